import type { FoundProblem, ProblemType } from "@slipway/engine/model/problems";
import { activeVm, type DiskRecord, expectsVm, type InstanceRecord } from "@slipway/engine/model/records";
import { aboutInstance, type FlowContext } from "@slipway/engine/steps/context";
import type { TaskContext } from "../../tasks/task.ts";
import { inFlight } from "../in-flight.ts";
import { hasDisk, lookAtVm } from "./look.ts";

const AT_ONCE = 32;

export interface VmScan {
  readonly problems: readonly FoundProblem[];
  /** Disks that are mounted, for VMs whose agents said so. */
  readonly mounts: ReadonlyMap<string, readonly string[]>;
  /** Reasons why an agent and this Director do not accept each other, though the VM is there, by instance. */
  readonly distrust: ReadonlyMap<string, string>;
}

/** Looks at every VM there should be. Ignored instances are left in peace. */
export async function scanVms(
  instances: readonly InstanceRecord[],
  task: TaskContext,
  context: FlowContext,
): Promise<VmScan> {
  const wanted = instances.filter(wantsVm);
  const stage = task.stage(`Scanning ${wanted.length} VMs`, [], 2);
  const problems: FoundProblem[] = [];
  const mounts = new Map<string, readonly string[]>();
  const distrust = new Map<string, string>();
  const seen = { ok: 0, silent: 0, missing: 0, ignored: 0 };
  await stage.step("Checking VM states", () =>
    inFlight(wanted, AT_ONCE, async (instance) => {
      if (instance.ignore) return void seen.ignored++;
      const vm = activeVm(instance);
      const sight =
        vm === undefined
          ? ({ how: "missing" } as const)
          : await lookAtVm(vm, aboutInstance(context, instance));
      if (sight.how === "answers") {
        seen.ok += 1;
        if (vm !== undefined && sight.mounted !== undefined) mounts.set(vm.cid, sight.mounted);
        return;
      }
      seen[sight.how] += 1;
      if (sight.how === "silent" && sight.distrust !== undefined) distrust.set(instance.uuid, sight.distrust);
      problems.push(found(sight.how === "silent" ? "unresponsive_agent" : "missing_vm", instance));
    }),
  );
  const counts = `${seen.ok} OK, ${seen.silent} unresponsive, ${seen.missing} missing, 0 unbound, ${seen.ignored} ignored`;
  await stage.step(counts, () => Promise.resolve());
  return { problems: problems.sort(byPlace), mounts, distrust };
}

/** Reports whether an instance should have a VM. One that was never brought to its plan misses nothing: a deploy makes its VM. */
const wantsVm = (instance: InstanceRecord): boolean =>
  instance.state !== "detached" &&
  (activeVm(instance) !== undefined || (expectsVm(instance) && instance.spec !== null));

/** Looks at every disk on record, and whether it is mounted where it should be. */
export async function scanDisks(
  instances: readonly InstanceRecord[],
  mounts: VmScan["mounts"],
  task: TaskContext,
  context: FlowContext,
): Promise<readonly FoundProblem[]> {
  const pairs = instances
    .filter(({ ignore }) => !ignore)
    .flatMap((instance) => instance.disks.map((disk) => ({ instance, disk })));
  const stage = task.stage(`Scanning ${pairs.length} persistent disks`, [], 2);
  const problems: FoundProblem[] = [];
  await stage.step("Looking for inactive disks", () =>
    inFlight(pairs, AT_ONCE, async ({ instance, disk }) => {
      const there = await hasDisk(disk, aboutInstance(context, instance));
      const problem = there ? troubleOf(instance, disk, mounts) : found("missing_disk", instance, disk);
      if (problem !== undefined) problems.push(problem);
    }),
  );
  const count = (type: ProblemType) => problems.filter((one) => one.type === type).length;
  await stage.step(
    `${pairs.length - problems.length} OK, ${count("missing_disk")} missing, ${count("inactive_disk")} inactive, ${count("mount_info_mismatch")} mount-info mismatch`,
    () => Promise.resolve(),
  );
  return problems.sort(byPlace);
}

function troubleOf(
  instance: InstanceRecord,
  disk: DiskRecord,
  mounts: VmScan["mounts"],
): FoundProblem | undefined {
  if (!disk.active) return found("inactive_disk", instance, disk);
  // A named disk is mounted by jobs, if at all.
  if (disk.name !== undefined) return undefined;
  const vm = activeVm(instance);
  // A VM whose agent does not say what it has mounted is a problem of its own.
  if (vm === undefined || !mounts.has(vm.cid)) return undefined;
  const mountedOn = [...mounts].filter(([, cids]) => cids.includes(disk.cid)).map(([cid]) => cid);
  if (mountedOn.length === 1 && mountedOn[0] === vm.cid) return undefined;
  return found("mount_info_mismatch", instance, disk, mountedOn);
}

export const found = (
  type: ProblemType,
  instance: InstanceRecord,
  disk?: DiskRecord,
  mountedOn: readonly string[] = [],
): FoundProblem => ({
  type,
  instance: instance.uuid,
  group: instance.group,
  index: instance.index,
  vm: activeVm(instance)?.cid ?? null,
  disk: disk?.cid ?? null,
  size: disk?.size ?? null,
  mountedOn,
});

export const missingVm = (instance: InstanceRecord): FoundProblem => found("missing_vm", instance);

export const byPlace = (a: FoundProblem, b: FoundProblem): number =>
  a.group < b.group ? -1 : a.group > b.group ? 1 : a.index - b.index;
