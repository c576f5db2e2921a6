import type { Report } from "../documents/problems.ts";
import type { Action, Change, DesiredInstance } from "../model/goal.ts";
import { display } from "../model/names.ts";
import { activeVm, type VmRecord } from "../model/records.ts";
import { type Addressed, addressInstance } from "./addresses.ts";
import { diskChanges, inPlaceChanges, type Known, mayRun, quietChanges } from "./changes.ts";
import type { InstanceTemplate } from "./desired.ts";
import { disksToSnapshot, diskWork, isAttached, mayBeReplaced } from "./disks.ts";
import { refuseDisksElsewhere } from "./disks-elsewhere.ts";
import { downtimeOf } from "./downtime.ts";
import type { AddressAllocator, Holder } from "./ips.ts";
import { jobChanges } from "./job-changes.ts";
import type { AgentReport, InstancePlan, JobsByInstance, PlanInput } from "./model.ts";
import { namedDiskChanges, namedDiskGoal, namedDiskWork } from "./named-disks.ts";
import type { PoolsByNetwork } from "./network-pools.ts";
import type { Placed } from "./placement.ts";
import { type RequestedState, requestFor, skipsDrain } from "./states.ts";
import { isStatic } from "./static-placement.ts";
import { detachBeforeDelete, newStepList, type Situation, stepsFor, type VmWork } from "./steps.ts";
import { givenUpVms, leftoversOf, newAgentEnv, spareVm, whyGivenUp } from "./vms.ts";

export interface Planning {
  readonly input: PlanInput;
  readonly poolsByNetwork: PoolsByNetwork;
  readonly allocator: AddressAllocator;
  readonly holder: (placed: Placed) => Holder;
  readonly idleErrands: ReadonlySet<string>;
  readonly report: Report;
}

/** An instance with its id, zone and addresses: all but its jobs. */
export interface InstancePlacement {
  readonly placed: Placed;
  readonly instanceTemplate: InstanceTemplate;
  readonly request: RequestedState;
  readonly known: Known | undefined;
  /** Undefined: nothing is changed about the instance. */
  readonly addressed: Addressed | undefined;
  readonly desired: DesiredInstance;
}

export interface PlannedInstance {
  readonly desired: DesiredInstance;
  readonly early: InstancePlan | undefined;
  /** Undefined: nothing is to be done. */
  readonly late: InstancePlan | undefined;
}

export function placeInstance(
  placed: Placed,
  instanceTemplate: InstanceTemplate,
  planning: Planning,
): InstancePlacement {
  const { input, report } = planning;
  const { recorded } = placed;
  const request = requestFor(placed, input.options.state);
  const parked = parkedAs(placed, instanceTemplate, request, planning);
  if (parked !== undefined)
    return { placed, instanceTemplate, request, known: undefined, addressed: undefined, desired: parked };

  const vm = recorded && activeVm(recorded);
  const agent = vm && recorded ? input.agents.get(recorded.uuid) : undefined;
  const unresponsive = agent?.responsive === false;
  const givenUp = vm && (unresponsive ? whyGivenUp(vm, request, input) : newAgentEnv(vm, input.director));
  refuseUnresponsive(placed, agent, input.options.fix || givenUp !== undefined, report);
  const known: Known | undefined =
    recorded && vm ? { recorded, vm, agent, request, options: input.options, givenUp } : undefined;
  const maySwap = !unresponsive && request.state !== "detached" && swaps(placed, vm, planning.poolsByNetwork);
  const addressed = addressInstance(
    placed,
    instanceTemplate,
    known,
    planning,
    planning.holder(placed),
    maySwap,
  );
  const desired = desiredOf(placed, instanceTemplate, request, addressed);
  if (request.state !== "detached") refuseDisksElsewhere(placed, desired, report);
  return { placed, instanceTemplate, request, known, addressed, desired };
}

/** Returns the work that brings an instance to its place and jobs. Without jobs no change follows from them. */
export function planInstance(
  placement: InstancePlacement,
  jobs: JobsByInstance | undefined,
  input: PlanInput,
): PlannedInstance {
  const { placed, request, known, addressed } = placement;
  const desired = { ...placement.desired, jobs: jobs?.get(placed.uuid) ?? null };
  if (addressed === undefined) return { desired, early: undefined, late: undefined };
  if (request.state === "detached")
    return { desired, early: undefined, late: detach(placed, desired, known, input) };
  return converge({ ...placement, addressed, desired }, jobs !== undefined, input);
}

/** Nothing is changed about ignored and detached instances, and about errands that do not run: they are as they were. */
function parkedAs(
  placed: Placed,
  instanceTemplate: InstanceTemplate,
  request: RequestedState,
  { idleErrands }: Planning,
): DesiredInstance | undefined {
  const { recorded, group } = placed;
  const detached =
    request.state === "detached" && recorded?.state === "detached" && recorded.vms.length === 0;
  if (recorded?.ignore !== true && !detached && !idleErrands.has(group.name)) return undefined;
  const networks = recorded?.spec?.networks ?? (recorded && activeVm(recorded))?.networks ?? {};
  const kept: RequestedState = { ...request, state: recorded?.state ?? "started" };
  return desiredOf(placed, instanceTemplate, kept, { networks, ips: recorded?.ips ?? [] });
}

const desiredOf = (
  { group, uuid, index, az, bootstrap }: Placed,
  instanceTemplate: InstanceTemplate,
  { state }: RequestedState,
  { networks, ips }: Pick<Addressed, "networks" | "ips">,
): DesiredInstance => ({
  group: group.name,
  uuid,
  index,
  az,
  bootstrap,
  // An errand without a VM is not stopped: the next run makes one.
  state: group.lifecycle === "errand" && state === "detached" ? "started" : state,
  ...(group.lifecycle === "errand" && { errand: true }),
  cpi: instanceTemplate.cpi,
  stemcell: instanceTemplate.stemcell,
  cloudProperties: instanceTemplate.cloudProperties,
  vmResources: instanceTemplate.vmResources,
  vmType: instanceTemplate.vmType,
  env: instanceTemplate.env,
  tags: instanceTemplate.tags,
  persistentDisk: instanceTemplate.persistentDisk,
  namedDisks: instanceTemplate.namedDisks,
  networks,
  ips,
  jobs: null,
});

/** A disk of an unfinished change must go with the VM it is attached to: that VM is not left behind. */
const swaps = (
  { group, recorded }: Placed,
  vm: VmRecord | undefined,
  poolsByNetwork: PoolsByNetwork,
): boolean =>
  group.update.vmStrategy === "create-swap-delete" &&
  !group.networks.some((one) => isStatic(one) || poolsByNetwork.get(one.name)?.type === "vip") &&
  recorded?.disks.some((disk) => !disk.active && isAttached(disk, vm)) !== true;

export function refuseUnresponsive(
  instance: Pick<Placed, "recorded">,
  agent: AgentReport | undefined,
  fix: boolean,
  report: Report,
): void {
  if (agent?.responsive !== false || fix || instance.recorded === undefined) return;
  report.add(
    450002,
    display(instance.recorded),
    `The agent of instance '${display(instance.recorded)}' does not answer: ${agent.why}`,
    "Bring it back, or run deploy with --fix: its VM is then replaced and its disk kept.",
  );
}

function detach(
  placed: Placed,
  desired: DesiredInstance,
  known: Known | undefined,
  input: PlanInput,
): InstancePlan {
  const { recorded } = placed;
  const list = newStepList();
  const snapshotsOf = disksToSnapshot(recorded, input);
  const unresponsive = known?.agent?.responsive === false;
  const why = desired.errand
    ? "its errand does not run any more"
    : recorded?.state === "detached"
      ? "it is detached"
      : `state ${recorded?.state ?? "new"} -> detached`;
  if (known !== undefined && !unresponsive) {
    if (mayRun(known)) list.add("stop", why);
    if (snapshotsOf.length > 0) list.add("snapshot_disks", why);
    detachBeforeDelete(recorded, known.vm, list);
  }
  if (known !== undefined) list.add("delete_vm", why);
  if (recorded?.vms.some((vm) => !vm.active)) list.add("delete_unused_vm", why);
  list.add("save_instance", why);
  return {
    action: "detach",
    changes: [{ kind: "state", reason: why }],
    steps: list.steps(),
    desired,
    recorded,
    unresponsive,
    skipDrain: skipsDrain(input, desired.group),
    diskMayBeReplaced: false,
    snapshotsOf,
    downtime: known === undefined ? undefined : "until it is started again: its VM is deleted",
  };
}

function converge(
  {
    placed,
    instanceTemplate,
    desired,
    known,
    request,
    addressed,
  }: Required<InstancePlacement> & {
    readonly addressed: Addressed;
  },
  jobsKnown: boolean,
  input: PlanInput,
): PlannedInstance {
  const { recorded } = placed;
  const unresponsive = known?.agent?.responsive === false;
  const rules = {
    cpi: desired.cpi,
    resizeByCpi: input.director.enableCpiResizeDisk && !unresponsive,
    updateByCpi: input.director.enableCpiUpdateDisk && !unresponsive,
    renewBefore: input.options.recreateDisksCreatedBefore,
  };
  const mounted = recorded && { disks: recorded.disks.filter(({ name }) => name === undefined) };
  const disk = diskWork(desired.persistentDisk, mounted, rules);
  // The content of a named disk is never copied, so the CPI is asked to enlarge the disk. By then the disk is off the old
  // VM, even if that does not answer.
  const named = namedDiskWork(desired.namedDisks, recorded, {
    ...rules,
    resizeByCpi: true,
    updateByCpi: input.director.enableCpiUpdateDisk,
  });
  const vmWork: VmWork =
    known === undefined
      ? "create"
      : addressed.replace.length === 0
        ? "keep"
        : addressed.swap
          ? "swap"
          : "replace";
  const hard: readonly Change[] =
    known === undefined
      ? [
          missing(placed, request),
          ...(recorded ? [...diskChanges(disk, undefined), ...namedDiskChanges(named, undefined)] : []),
        ]
      : [
          ...inPlaceChanges(known, instanceTemplate, placed.group.name, disk),
          ...namedDiskChanges(named, known.vm),
          ...(jobsKnown ? jobChanges(recorded?.spec?.jobs ?? null, desired.jobs) : []),
          ...addressed.replace,
        ];
  const givenUp = givenUpVms(recorded, request, input);
  const spare = vmWork === "keep" ? undefined : spareVm(recorded, desired, givenUp);
  const leftovers = leftoversOf(recorded, spare, givenUp);
  const changes = [...hard, ...quietChanges(recorded, desired, leftovers, [disk, ...named])];
  if (changes.length === 0) return { desired, early: undefined, late: undefined };

  const jobs = hard.filter(({ kind }) => kind !== "tags");
  const onlyStop =
    desired.state === "stopped" &&
    jobs.length > 0 &&
    jobs.length === hard.length &&
    jobs.every(({ kind }) => kind === "state");
  const snapshotsOf = disksToSnapshot(recorded, input);
  const situation: Situation = {
    desired,
    recorded,
    vm: known?.vm,
    spare,
    leftovers,
    disk,
    named,
    vmWork,
    unresponsive,
    running: known !== undefined && mayRun(known),
    snapshots: snapshotsOf.length > 0 && !unresponsive,
    inPlace: jobs.length === 0 ? "quiet" : onlyStop ? "stop" : "jobs",
    newTags: hard.some(({ kind }) => kind === "tags" || kind === "dirty" || kind === "job"),
    cause: hard.map(({ reason }) => reason).join("; "),
  };
  const { early, late } = stepsFor(situation);
  const skipDrain = skipsDrain(input, desired.group);
  const doing = (
    action: Action,
    steps: InstancePlan["steps"],
    downtime: string | undefined,
  ): InstancePlan => ({
    action,
    changes,
    steps,
    desired,
    recorded,
    unresponsive,
    skipDrain,
    diskMayBeReplaced: mayBeReplaced(disk),
    snapshotsOf,
    vmsToGo: [...givenUp.keys()],
    named: namedDiskGoal(named, vmWork === "keep" ? known?.vm : undefined),
    downtime,
  });
  return {
    desired,
    // The new VM is created; what it is created for may be a recreate.
    early: early.length === 0 ? undefined : doing("create", early, undefined),
    late: doing(actionFor(vmWork, situation, changes), late, downtimeOf(situation)),
  };
}

function missing({ recorded }: Placed, { state }: RequestedState): Change {
  if (recorded === undefined || recorded.spec === null) return { kind: "missing_vm", reason: "new instance" };
  if (recorded.errand) return { kind: "missing_vm", reason: "its errand is to run" };
  if (recorded.state === "detached") return { kind: "state", reason: `state detached -> ${state}` };
  return { kind: "missing_vm", reason: "its VM is missing" };
}

function actionFor(vmWork: VmWork, situation: Situation, changes: readonly Change[]): Action {
  if (vmWork === "create") return "create";
  if (vmWork !== "keep") return "recreate";
  if (situation.inPlace === "stop" && situation.leftovers.length === 0) return "stop";
  return changes.every(({ kind }) => kind === "tags") ? "metadata" : "update";
}
