import { slug } from "@slipway/engine/model/names";
import {
  activeDisk,
  activeVm,
  firstAddress,
  type InstanceRecord,
  type VmRecord,
} from "@slipway/engine/model/records";
import type { InstanceState, instanceState } from "@slipway/protocol/director/instance";
import { listVmsParams } from "@slipway/protocol/director/task-params";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import { agreedWire, inAddressOrder } from "../api/vm-wire.ts";
import { loadInstances } from "../store/instances.ts";
import type { TaskContext } from "../tasks/task.ts";
import { calculatedProperties } from "./calculated-properties.ts";
import { inFlight } from "./in-flight.ts";
import { type OperationContext, operation } from "./operation.ts";

const AT_ONCE = 32;
/** Deadline of an answer, as upstream: a listing does not wait for agents that are gone. */
const ANSWER_MS = 5_000;

/** Passed on as the agent says it: what it leaves out is not made up. */
type Reported = Pick<InstanceState, "job_state" | "vitals" | "processes">;
type Line = Omit<ReplyOf<typeof instanceState>, keyof Reported | "resource_pool"> & Reported;

/** `bosh instances`: one line per instance. */
export const instances = operation(listVmsParams, async ({ deployment }, task, tools) => {
  const all = await loadInstances(tools.db, deployment);
  const properties = calculatedProperties(task, tools);
  await inFlight(all, AT_ONCE, async (instance) => {
    task.result(await line(instance, activeVm(instance), properties, task, tools));
  });
  return "";
});

/** `bosh vms`: one line per VM. */
export const vms = operation(listVmsParams, async ({ deployment }, task, tools) => {
  const all = await loadInstances(tools.db, deployment);
  const properties = calculatedProperties(task, tools);
  const pairs = all.flatMap((instance) => instance.vms.map((vm) => ({ instance, vm })));
  await inFlight(pairs, AT_ONCE, async ({ instance, vm }) => {
    task.result(await line(instance, vm, properties, task, tools));
  });
  return "";
});

async function line(
  instance: InstanceRecord,
  vm: VmRecord | undefined,
  properties: ReturnType<typeof calculatedProperties>,
  task: TaskContext,
  tools: OperationContext,
): Promise<Line> {
  const cids = instance.disks.filter(({ active }) => active).map(({ cid }) => cid);
  // Of a prefix the VM knows the first address.
  const heldAs = (ip: string) => instance.ips.find((held) => firstAddress(held) === ip)?.address ?? ip;
  const ips = Object.values(vm?.networks ?? {}).flatMap(({ ip }) => (ip === undefined ? [] : [heldAs(ip)]));
  return {
    vm_cid: vm?.cid ?? null,
    active: vm?.active ?? false,
    vm_created_at: vm === undefined ? null : new Date(vm.createdAt).toISOString().replace(/\.\d+Z$/, "Z"),
    cloud_properties: await properties(instance, vm),
    disk_cid: activeDisk(instance)?.cid ?? null,
    disk_cids: cids,
    ips: inAddressOrder(ips.length > 0 ? ips : instance.ips.map(({ address }) => address)),
    agent_id: vm?.agentId ?? null,
    job_name: instance.group,
    index: instance.index,
    state: instance.state,
    vm_type: instance.spec?.vmType ?? null,
    az: instance.az,
    id: instance.uuid,
    bootstrap: instance.bootstrap,
    ignore: instance.ignore,
    ...(instance.errand && { errand: true }),
    stemcell:
      vm === undefined
        ? null
        : { name: vm.stemcell.name, version: vm.stemcell.version, api_version: vm.stemcell.apiVersion },
    ...(await reported(vm, task, { ...tools, ...tools.about?.(slug(instance)) })),
    ...(vm !== undefined && { slipway: agreedWire(vm) }),
  };
}

async function reported(
  vm: VmRecord | undefined,
  task: TaskContext,
  tools: OperationContext,
): Promise<Reported> {
  if (vm === undefined) return { job_state: null, vitals: {}, processes: [] };
  try {
    const agent = tools.agents.agent(vm);
    const { jobState, raw } = await agent.getState(true, { signal: task.signal, timeoutMs: ANSWER_MS });
    const { vitals, processes } = raw as Reported;
    return { job_state: jobState, vitals: vitals ?? {}, processes: processes ?? [] };
  } catch (error) {
    task.signal.throwIfAborted();
    task.debug(`agent ${vm.agentId}: ${String(error)}`);
    return { job_state: "unresponsive agent", vitals: {}, processes: [] };
  }
}
