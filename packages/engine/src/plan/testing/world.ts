import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import { type DesiredInstance, newInstance } from "../../model/goal.ts";
import type { InstanceUuid } from "../../model/names.ts";
import type { DiskRecord, InstanceRecord, IpRecord, VmRecord } from "../../model/records.ts";
import type { StepName } from "../../steps/steps.ts";
import type { AgentReport, InstancePlan, Plan, PlanInput } from "../model.ts";
import { input, planned } from "./builders.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type Disk = Mutable<DiskRecord>;
export type Vm = Mutable<VmRecord>;
export interface Instance extends Mutable<Omit<InstanceRecord, "vms" | "disks" | "ips">> {
  vms: Vm[];
  disks: Disk[];
  ips: IpRecord[];
}

/** The records of a Director in memory, and steps that change them as the real ones do. No cloud, no agents. */
export interface World {
  instances: Instance[];
  orphanDisks: Disk[];
  /** Addresses of orphaned VMs. */
  orphanIps: Map<string, string>;
  /** Job state that the agent of a VM reports. */
  jobState: Map<VmCid, string>;
  silent: Set<InstanceUuid>;
  steps: { readonly instance: InstanceUuid; readonly step: StepName }[];
  ids: number;
}

export const newWorld = (): World => ({
  instances: [],
  orphanDisks: [],
  orphanIps: new Map(),
  jobState: new Map(),
  silent: new Set(),
  steps: [],
  ids: 0,
});

/** Returns the input of a deploy in the present state. */
export function inputFor(world: World, given: Parameters<typeof input>[0]): PlanInput {
  const agents = new Map<InstanceUuid, AgentReport>();
  for (const { uuid, vms, ignore } of world.instances) {
    const vm = vms.find((one) => one.active);
    if (vm === undefined || ignore) continue;
    const jobState = world.jobState.get(vm.cid) ?? "stopped";
    agents.set(
      uuid,
      world.silent.has(uuid)
        ? { responsive: false, why: "timed out" }
        : { responsive: true, jobState, networks: vm.networks },
    );
  }
  let count = world.ids;
  return {
    ...input(given),
    instances: structuredClone(world.instances),
    agents,
    takenIps: new Map([...world.orphanIps, ...(given?.takenIps ?? [])]),
    newUuid: () => {
      count += 1;
      world.ids = count;
      return `u${String(count).padStart(6, "0")}` as InstanceUuid;
    },
  };
}

/** Identities and addresses are written before anything else. */
export function reserve(world: World, plan: Plan): void {
  for (const desired of plan.desired) {
    const known = world.instances.find(({ uuid }) => uuid === desired.uuid);
    const instance = known ?? fresh(world, desired);
    if (known === undefined) world.instances.push(instance);
    instance.group = desired.group;
    instance.index = desired.index;
    instance.errand = desired.errand === true;
    for (const ip of desired.ips) {
      const at = instance.ips.findIndex(({ address }) => address === ip.address);
      if (at < 0) instance.ips.push(ip);
      else instance.ips[at] = ip;
    }
  }
}

const fresh = (world: World, desired: DesiredInstance): Instance => ({
  ...newInstance(desired),
  id: nextId(world),
  vms: [],
  disks: [],
  ips: [],
});

function nextId(world: World): number {
  world.ids += 1;
  return world.ids;
}

export const inSequence = (plan: Plan): readonly InstancePlan[] => [
  ...plan.obsolete,
  ...plan.missingVms,
  ...plan.groups
    .flat()
    .flatMap((group) => [...group.surplus, ...group.batches.flatMap((one) => one.instances)]),
];

/** Carries a plan out, or only its first `limit` steps, as if the Director had been killed then. */
export function carryOut(world: World, plan: Plan, limit = Number.POSITIVE_INFINITY): void {
  reserve(world, plan);
  let left = limit;
  for (const one of inSequence(plan)) {
    const uuid = (one.desired ?? one.recorded)?.uuid;
    for (const { name, condition } of one.steps) {
      if (condition !== undefined) continue;
      if (left <= 0) return;
      left -= 1;
      const instance = world.instances.find((known) => known.uuid === uuid);
      if (instance === undefined) throw new Error(`${name}: no instance ${uuid}`);
      instance.updateCompleted = false;
      world.steps.push({ instance: instance.uuid, step: name });
      take(world, name, instance, one);
    }
  }
}

function must<T>(value: T | undefined, step: StepName): T {
  if (value === undefined) throw new Error(`${step}: there is nothing it could be done to`);
  return value;
}

function take(world: World, step: StepName, instance: Instance, plan: InstancePlan): void {
  const active = instance.vms.find((vm) => vm.active);
  const idle = instance.vms.filter((vm) => !vm.active).at(-1);
  const disk = instance.disks.find((one) => one.active);
  const wanted = plan.desired?.persistentDisk ?? null;
  const next = instance.disks
    .filter((one) => !one.active && one.id > (disk?.id ?? 0) && wanted !== null)
    .filter((one) => one.size === wanted?.size && same(one.cloudProperties, wanted.cloudProperties))
    .at(-1);
  const takesOver = plan.steps.some(({ name }) => name === "switch_disk") ? next : undefined;
  const old =
    wanted === null ? instance.disks : instance.disks.filter((one) => !one.active && one !== takesOver);
  const attach = (one: Disk) => {
    if (one.attachedTo !== null) throw new Error(`${step}: ${one.cid} is attached to ${one.attachedTo}`);
    one.attachedTo = must(active, step).cid;
  };
  const mount = (one: Disk) => {
    if (one.attachedTo !== must(active, step).cid) throw new Error(`${step}: ${one.cid} is not attached`);
    one.mounted = true;
  };
  const detach = (one: Disk) => Object.assign(one, { attachedTo: null, hint: null, mounted: false });
  const removeVm = (vm: Vm) => {
    instance.vms = instance.vms.filter((one) => one !== vm);
    for (const one of instance.disks) if (one.attachedTo === vm.cid) detach(one);
  };
  switch (step) {
    case "stop":
      world.jobState.set(must(active, step).cid, "stopped");
      break;
    case "unmount_disk":
      must(disk, step).mounted = false;
      break;
    case "detach_disk":
      if (must(disk, step).mounted) throw new Error("detach_disk: it is mounted");
      detach(must(disk, step));
      break;
    case "resize_disk":
    case "update_disk":
      if (must(disk, step).attachedTo !== null) throw new Error(`${step}: the disk is attached`);
      Object.assign(must(disk, step), wanted);
      break;
    case "delete_vm":
      for (const vm of instance.vms.filter((one) => one.active || plan.desired === undefined)) removeVm(vm);
      world.silent.delete(instance.uuid);
      break;
    case "delete_unused_vm":
      removeVm(must(idle, step));
      break;
    case "orphan_vm": {
      const vm = must(active, step);
      if (instance.disks.some((one) => one.attachedTo === vm.cid))
        throw new Error("orphan_vm: it has a disk");
      const ips = Object.values(vm.networks).map(({ ip }) => ip);
      for (const ip of ips) if (ip !== undefined) world.orphanIps.set(ip, "orphaned instance");
      instance.ips = instance.ips.filter(({ address }) => !ips.includes(address));
      removeVm(vm);
      break;
    }
    case "create_vm":
      instance.vms.push(newVm(world, must(plan.desired, step)));
      break;
    case "wait_for_agent":
      must(idle, step);
      break;
    case "activate_vm":
      if (active !== undefined) throw new Error("activate_vm: there is one already");
      must(idle, step).active = true;
      break;
    case "attach_disk":
      attach(must(disk, step));
      break;
    case "mount_disk":
      mount(must(disk, step));
      break;
    case "prepare_agent":
      must(idle ?? active, step).ready = true;
      break;
    case "create_disk":
      instance.disks.push(newDisk(world, must(plan.desired, step)));
      break;
    case "unmount_new_disk":
      must(next, step).mounted = false;
      break;
    case "detach_new_disk":
      detach(must(next, step));
      break;
    case "attach_new_disk":
      attach(must(next, step));
      break;
    case "mount_new_disk":
      mount(must(next, step));
      break;
    case "migrate_disk":
      if (!must(next, step).mounted || !must(disk, step).mounted)
        throw new Error("migrate_disk: not both are mounted");
      Object.assign(must(disk, step), { active: false, mounted: false });
      must(next, step).active = true;
      break;
    case "switch_disk":
      if (disk === undefined) must(next, step).active = true;
      break;
    case "unmount_old_disk":
      for (const one of old) one.mounted = false;
      break;
    case "detach_old_disk":
      for (const one of old) detach(one);
      break;
    case "orphan_disk":
      for (const one of old) {
        if (one.attachedTo !== null) throw new Error(`orphan_disk: ${one.cid} is attached`);
        world.orphanDisks.push(one);
        instance.disks = instance.disks.filter((other) => other !== one);
      }
      break;
    case "set_vm_metadata":
      must(idle ?? active, step);
      break;
    case "apply":
      if (!must(active, step).ready) throw new Error(`${step}: the agent was not prepared`);
      break;
    case "start":
      world.jobState.set(must(active, step).cid, "running");
      break;
    case "save_instance":
      save(instance, must(plan.desired, step));
      break;
    case "delete_instance":
      if (instance.vms.length + instance.disks.length > 0) throw new Error("delete_instance: it has things");
      world.instances = world.instances.filter((one) => one !== instance);
      break;
  }
}

function save(instance: Instance, desired: DesiredInstance): void {
  const { state, az, bootstrap, networks, persistentDisk, tags, vmType, ips } = desired;
  const spec = { networks, persistentDisk, tags, vmType, configurationHash: "none" };
  Object.assign(instance, { state, az, bootstrap, spec, updateCompleted: true, ips: [...ips] });
}

function newVm(world: World, desired: DesiredInstance): Vm {
  const id = nextId(world);
  return {
    id,
    cid: `vm-${id}` as VmCid,
    agentId: `agent-${id}` as AgentId,
    active: false,
    cpi: desired.cpi,
    createdAt: id,
    stemcell: desired.stemcell,
    apiVersion: 2,
    channel: "user-data",
    env: desired.env,
    cloudProperties: desired.cloudProperties,
    networks: desired.networks,
    disks: {},
    agentUrl: "https://agent",
    certificateUntil: null,
    ready: false,
  };
}

function newDisk(world: World, { persistentDisk, cpi }: DesiredInstance): Disk {
  if (persistentDisk === null) throw new Error("create_disk: none is wanted");
  const id = nextId(world);
  const cid = `disk-${id}` as DiskCid;
  return { id, cid, ...persistentDisk, cpi, active: false, attachedTo: null, hint: null, mounted: false };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

type Given = Parameters<typeof input>[0];

/** A world in which this was deployed. */
export function deployed(given: Given): World {
  const world = newWorld();
  deployTo(world, given);
  return world;
}

export function deployTo(world: World, given: Given, limit?: number): Plan {
  const made = planned(inputFor(world, given));
  carryOut(world, made, limit);
  return made;
}

/** The world after a plan for new instances, without taking its steps one by one. */
export function asDeployed(plan: Plan): World {
  const world = newWorld();
  for (const desired of plan.desired) {
    const instance = fresh(world, desired);
    const vm = { ...newVm(world, desired), active: true, ready: true };
    instance.vms = [vm];
    world.jobState.set(vm.cid, "running");
    if (desired.persistentDisk !== null)
      instance.disks = [{ ...newDisk(world, desired), active: true, attachedTo: vm.cid, mounted: true }];
    save(instance, desired);
    world.instances.push(instance);
  }
  return world;
}

/** Plans a deploy in the present state. */
export const next = (world: World, given: Given): Plan => planned(inputFor(world, given));

export const updatesOf = (plan: Plan): readonly InstancePlan[] =>
  plan.groups.flat().flatMap(({ batches }) => batches.flatMap(({ instances }) => instances));

/** Names of steps: of the early phase, and of the update. */
export const stepsOf = (plan: Plan): { readonly early: string; readonly late: string } => ({
  early: plan.missingVms.map(({ steps }) => namesOf(steps)).join(" | "),
  late: updatesOf(plan)
    .map(({ steps }) => namesOf(steps))
    .join(" | "),
});

/** Returns the names of the unconditional steps. */
const namesOf = (steps: InstancePlan["steps"]): string =>
  steps.flatMap(({ name, condition }) => (condition === undefined ? [name] : [])).join(" ");
