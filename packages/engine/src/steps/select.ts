import type { JsonObject } from "@slipway/protocol/schema/json";
import { sameJson } from "../model/equal.ts";
import {
  activeDisk,
  activeVm,
  type DiskRecord,
  type InstanceRecord,
  type VmRecord,
} from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";
import type { StepSubject } from "./step.ts";

/** Which VM or disk of an instance a step is about, told from the records alone. */

/** The VM that is being made: not yet in use. */
export const newVm = (instance: InstanceRecord): VmRecord | undefined =>
  instance.vms.filter((vm) => !vm.active).at(-1);

/** The VM that new work goes to. */
export const currentVm = (instance: InstanceRecord): VmRecord | undefined =>
  newVm(instance) ?? activeVm(instance);

/** Whether its agent can be asked: the one that did not answer may be replaced by now. */
export const answers = (vm: VmRecord, { goal }: Pick<StepSubject, "goal">): boolean =>
  !goal.unresponsive || !goal.recorded?.vms.some(({ active, cid }) => active && cid === vm.cid);

/** A VM beside the active one that nothing will use. */
export function unusedVm({ instance, goal: { desired, changes } }: StepSubject): VmRecord | undefined {
  const active = activeVm(instance);
  const replaced = changes.some(({ kind }) => kind === "recreate");
  return instance.vms.find((vm) => {
    if (vm.active) return false;
    if (desired === undefined || desired.state === "detached" || !vmSuits(vm, desired)) return true;
    return active !== undefined && vmSuits(active, desired) && !replaced;
  });
}

export function diskFits(
  disk: Pick<DiskRecord, "size" | "cloudProperties">,
  wanted: { readonly size: number; readonly cloudProperties: JsonObject } | null | undefined,
): boolean {
  return (
    wanted !== null &&
    wanted !== undefined &&
    disk.size === wanted.size &&
    sameJson(disk.cloudProperties, wanted.cloudProperties)
  );
}

/** The disk that is to take over: made after the active one, and what is wanted. */
export function newDisk({ instance, goal }: StepSubject): DiskRecord | undefined {
  const active = activeDisk(instance);
  return instance.disks
    .filter((disk) => !disk.active && disk.id > (active?.id ?? 0))
    .filter((disk) => diskFits(disk, goal.desired?.persistentDisk))
    .at(-1);
}

/** Disks the instance is to be without. */
export function oldDisks(subject: StepSubject): readonly DiskRecord[] {
  const { instance, goal } = subject;
  const { disksToGo } = goal;
  if (disksToGo !== undefined) return instance.disks.filter(({ cid }) => disksToGo.includes(cid));
  if ((goal.desired?.persistentDisk ?? null) === null) return instance.disks;
  // Where none is to take over, one that could is left from a change that nobody wants any more.
  const next = goal.diskMayBeReplaced ? newDisk(subject) : undefined;
  return instance.disks.filter((disk) => !disk.active && disk.id !== next?.id);
}

export const theActiveDisk = ({ instance }: StepSubject): readonly DiskRecord[] =>
  instance.disks.filter((disk) => disk.active);
