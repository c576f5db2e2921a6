import type { DesiredInstance } from "../model/goal.ts";
import { activeDisk, type InstanceRecord, namedDisks, type VmRecord } from "../model/records.ts";
import { STEP_ORDER, type StepName } from "../steps/steps.ts";
import { type DiskWork, isAttached } from "./disks.ts";
import type { PlannedStep, StepCondition } from "./model.ts";
import { changeNamedDisks, type NamedDiskWork, planNamedDisks } from "./named-disks.ts";
import type { Leftover } from "./vms.ts";

/** Steps by name, read in the order of the table of steps. */
export interface StepList {
  add(name: StepName, reason: string): void;
  /** Adds a step that runs only on a condition; not listed if the step runs anyway. */
  addIf(condition: StepCondition, name: StepName, reason: string): void;
  steps(): readonly PlannedStep[];
}

export function newStepList(): StepList {
  const always = new Map<StepName, PlannedStep>();
  const sometimes = new Map<StepName, PlannedStep & { readonly condition: StepCondition }>();
  const inCase = new Map<StepName, PlannedStep & { readonly condition: StepCondition }>();
  return {
    add: (name, reason) => {
      if (!always.has(name)) always.set(name, { name, reason });
    },
    addIf: (condition, name, reason) => {
      const list = condition === "new_agent_unusable" ? inCase : sometimes;
      const there = list.get(name);
      if (there === undefined) list.set(name, { name, reason, condition });
      // On either of two conditions: it looks for itself whether there is something to do.
      else if (there.condition !== condition && !always.has(name)) always.set(name, { name, reason });
    },
    steps: () => {
      if (always.size === 0) return [];
      const steps: PlannedStep[] = [];
      for (const name of STEP_ORDER) {
        const step = always.get(name) ?? sometimes.get(name);
        if (step !== undefined) steps.push(step);
      }
      // What undoes comes last: it is taken when one of the others has failed.
      return [...steps, ...inCase.values()];
    },
  };
}

/** Work on the VM: it stays, is created, is replaced, or is swapped for one made beforehand. */
export type VmWork = "keep" | "create" | "replace" | "swap";

export interface Situation {
  readonly desired: DesiredInstance;
  readonly recorded: InstanceRecord | undefined;
  readonly vm: VmRecord | undefined;
  readonly spare: VmRecord | undefined;
  readonly leftovers: readonly Leftover[];
  readonly disk: DiskWork;
  readonly named: readonly NamedDiskWork[];
  readonly vmWork: VmWork;
  /** True if the instance's jobs may run, and its agent can stop them. */
  readonly running: boolean;
  /** Snapshots are taken of its disks first, if it has any. */
  readonly snapshots: boolean;
  /** Its agent does not answer: nothing is asked of it. */
  readonly unresponsive: boolean;
  /** Scope of an update in place: the jobs, only the switch to stopped, or nothing that the jobs notice. */
  readonly inPlace: "jobs" | "stop" | "quiet";
  readonly newTags: boolean;
  /** Why the VM is touched. */
  readonly cause: string;
}

export interface Phases {
  /** In `Creating missing vms`, before any group is touched. */
  readonly early: readonly PlannedStep[];
  readonly late: readonly PlannedStep[];
}

export function stepsFor(situation: Situation): Phases {
  const early = newStepList();
  const late = newStepList();
  const { vmWork, leftovers } = situation;
  const first = vmWork === "create" || vmWork === "swap" ? early : late;
  for (const { reason } of leftovers) first.add("delete_unused_vm", reason);
  if (vmWork === "keep") keepVm(situation, late);
  else newVm(situation, early, late);
  late.add("save_instance", "what it was brought to is remembered");
  return { early: early.steps(), late: late.steps() };
}

function keepVm(situation: Situation, list: StepList): void {
  const { vm, disk, desired, inPlace, cause } = situation;
  if (situation.running && inPlace !== "quiet") {
    if (inPlace === "jobs" && desired.jobs !== null && vm?.ready === true)
      list.add("prepare_jobs", "what is to run is fetched while the old jobs still run");
    list.add("stop", cause);
  }
  if (situation.snapshots && inPlace !== "quiet") list.add("snapshot_disks", cause);
  if (inPlace === "stop") return;
  byCpi(disk, list, () => {
    if (disk.active === undefined || !isAttached(disk.active, vm)) return;
    list.add("unmount_disk", "the disk is changed while nobody uses it");
    list.add("detach_disk", "the CPI changes disks that are not attached");
  });
  changeNamedDisks(situation.named, list, vm);
  bringDisk(disk, list, vm);
  if (vm !== undefined && !vm.ready) list.add("prepare_agent", "its agent was not given its settings yet");
  changeDisk(disk, list, vm);
  planNamedDisks(situation.named, list, vm);
  if (situation.newTags) list.add("set_vm_metadata", "tags or identity changed");
  if (inPlace !== "jobs") return;
  list.add("apply", cause);
  if (desired.state === "started") list.add("start", "its jobs are to run");
}

function newVm(situation: Situation, early: StepList, late: StepList): void {
  const { vm, spare, disk, desired, vmWork, recorded, cause, unresponsive } = situation;
  if (vm !== undefined) {
    if (situation.running) late.add("stop", "its jobs must not run while the VM is replaced");
    if (situation.snapshots) late.add("snapshot_disks", cause);
    if (!unresponsive) detachBeforeDelete(recorded, vm, late);
    late.add(vmWork === "swap" ? "orphan_vm" : "delete_vm", cause);
  }
  byCpi(disk, vmWork === "create" ? early : late, () => undefined);
  const making = vmWork === "replace" ? late : early;
  if (spare === undefined) making.add("create_vm", cause);
  // As upstream, so that the cloud shows the owner of the VM, even while its agent does not answer.
  const unnamed = spare?.ready === true ? late : making;
  unnamed.add("set_vm_metadata", "a new VM is told who it is");
  if (spare?.ready !== true) {
    making.add(
      "wait_for_agent",
      spare === undefined ? "a new VM boots" : "the VM made before was not ready yet",
    );
    making.add("prepare_agent", "a new agent gets its settings");
    if (vmWork === "swap" && desired.jobs !== null)
      making.add("prepare_packages", "packages are fetched while the old VM still runs");
    making.addIf("new_agent_unusable", "delete_unused_vm", "a VM whose agent cannot be used is of no use");
  }
  const moving = vmWork === "create" ? early : late;
  moving.add(
    "activate_vm",
    vmWork === "swap" ? "the new VM takes over" : "it is the instance's VM from now on",
  );
  bringDisk(disk, moving, undefined);
  changeDisk(disk, late, undefined);
  changeNamedDisks(situation.named, late, undefined);
  planNamedDisks(situation.named, late, undefined);
  late.add("apply", cause);
  if (desired.state === "started") late.add("start", "its jobs are to run");
}

/** The disks of a VM that goes are unmounted and detached before. */
export function detachBeforeDelete(recorded: InstanceRecord | undefined, vm: VmRecord, list: StepList): void {
  if (recorded && namedDisks(recorded).some((one) => isAttached(one, vm))) {
    list.add("dissociate_disks", "the disks leave the VM");
    list.add("detach_named_disk", "the disks outlive the VM");
  }
  const disk = recorded && activeDisk(recorded);
  if (disk === undefined || !isAttached(disk, vm)) return;
  list.add("unmount_disk", "its data is written out before the VM goes");
  list.add("detach_disk", "the disk outlives the VM");
}

/** Resize or update by the CPI, on a disk that is attached nowhere. */
function byCpi(disk: DiskWork, list: StepList, free: () => void): void {
  if (disk.how !== "resize" && disk.how !== "update") return;
  free();
  list.add(
    disk.how === "resize" ? "resize_disk" : "update_disk",
    "the CPI changes the disk itself, nothing is copied",
  );
}

/** A hint that did not lead to the disk is not used again: its CPI may have been mended since. */
const ATTACHED_ANEW = "it was attached and not mounted: the CPI says again where it is";

/** The disk with the data, on the VM that is to have it. */
function bringDisk(disk: DiskWork, list: StepList, vm: VmRecord | undefined): void {
  const { active, how } = disk;
  if (active === undefined || how === "remove") return;
  const changed = how === "resize" || how === "update";
  if (!changed && isAttached(active, vm) && active.mounted) return;
  if (!changed && isAttached(active, vm)) {
    list.add("unmount_disk", ATTACHED_ANEW);
    list.add("detach_disk", ATTACHED_ANEW);
  }
  list.add("attach_disk", `disk '${active.cid}' holds its data`);
  list.add("mount_disk", `disk '${active.cid}' holds its data`);
  if (changed) copyInstead(list);
}

/** Adds the steps of a copy, as with a CPI that is not asked at all. */
function copyInstead(list: StepList): void {
  const add = (name: StepName, reason: string) => list.addIf("cpi_cannot_change_disk", name, reason);
  add("create_disk", "the disk changed");
  add("attach_new_disk", "it is new");
  add("mount_new_disk", "to be written to");
  add("migrate_disk", "the data goes to the new disk");
  add("unmount_old_disk", "replaced");
  add("detach_old_disk", "replaced");
  add("orphan_disk", "kept for some days: replaced");
}

/** A first disk, a disk that takes over from another, and what becomes of those that are no longer needed. */
function changeDisk(disk: DiskWork, list: StepList, vm: VmRecord | undefined): void {
  const { how, fresh, old } = disk;
  if (how === "first" || how === "copy") {
    if (fresh === undefined) list.add("create_disk", how === "copy" ? "the disk changed" : "its first disk");
    const attached = fresh !== undefined && isAttached(fresh, vm);
    if (attached && !fresh.mounted) {
      list.add("unmount_new_disk", ATTACHED_ANEW);
      list.add("detach_new_disk", ATTACHED_ANEW);
    }
    if (!attached || !fresh.mounted) {
      list.add("attach_new_disk", fresh ? `disk '${fresh.cid}' was made for it before` : "it is new");
      list.add("mount_new_disk", "to be written to");
    }
    if (how === "copy") list.add("migrate_disk", "the data goes to the new disk");
    list.add(
      "switch_disk",
      how === "copy" ? "the new disk has the data now" : "it is the instance's disk from now on",
    );
  }
  const copied = how === "copy";
  const there = old.filter((one) => isAttached(one, vm));
  const why = how === "remove" ? "no longer wanted" : copied ? "replaced" : "left by an unfinished change";
  if (copied || there.length > 0) {
    list.add("unmount_old_disk", why);
    list.add("detach_old_disk", why);
  }
  if (old.length > 0) list.add("orphan_disk", `kept for some days: ${why}`);
}
