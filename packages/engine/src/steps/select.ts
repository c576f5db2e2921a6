import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sameJson } from "../model/equal.ts";
import type { NamedDisk } from "../model/goal.ts";
import {
  activeDisk,
  activeVm,
  type DiskRecord,
  type InstanceRecord,
  namedDisks,
  type VmRecord,
} from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";
import type { StepSubject } from "./step.ts";

/** Selects the VM or disk of an instance that a step is about, from the records alone. */

/** The VM that is being made: not yet in use. */
export const newVm = (instance: InstanceRecord): VmRecord | undefined =>
  instance.vms.filter((vm) => !vm.active).at(-1);

/** The VM that new work goes to. */
export const currentVm = (instance: InstanceRecord): VmRecord | undefined =>
  newVm(instance) ?? activeVm(instance);

/** Returns true if the VM's agent can be asked. The VM whose agent did not answer may be replaced by now. */
export const isAgentResponsive = (vm: VmRecord, { goal }: Pick<StepSubject, "goal">): boolean =>
  !goal.unresponsive || !goal.recorded?.vms.some(({ active, cid }) => active && cid === vm.cid);

/** A VM beside the active one that nothing will use. */
export function unusedVm({
  instance,
  goal: { action, desired, changes, vmsToGo = [] },
}: StepSubject): VmRecord | undefined {
  const active = activeVm(instance);
  const replaced = changes.some(({ kind }) => kind === "recreate");
  return instance.vms.find((vm) => {
    if (vm.active) return false;
    if (vmsToGo.includes(vm.cid)) return true;
    if (action === "detach" || desired === undefined || desired.state === "detached") return true;
    if (!vmSuits(vm, desired)) return true;
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

/** The disk of that name that is to take over: what is wanted, and made after the active one. */
export function newDisk({ instance, goal }: StepSubject, name?: string): DiskRecord | undefined {
  const active = activeDisk(instance, name);
  const wanted = name === undefined ? goal.desired?.persistentDisk : wantedAs(goal, name);
  // The one before a named disk that does not fit has what was on it: it is taken again.
  const back = name !== undefined && active !== undefined && !diskFits(active, wanted);
  return instance.disks
    .filter((disk) => !disk.active && disk.name === name && (back || disk.id > (active?.id ?? 0)))
    .filter((disk) => diskFits(disk, wanted))
    .at(-1);
}

const wantedAs = ({ desired }: StepSubject["goal"], name: string): NamedDisk | undefined =>
  desired?.namedDisks?.find((one) => one.name === name);

/** Disks the instance is to be without. */
export function disksToOrphan(subject: StepSubject): readonly DiskRecord[] {
  const { instance, goal } = subject;
  const { disksToGo, desired } = goal;
  if (disksToGo !== undefined) return instance.disks.filter(({ cid }) => disksToGo.includes(cid));
  return instance.disks.filter((disk) => {
    const { name } = disk;
    const wanted = name === undefined ? desired?.persistentDisk : wantedAs(goal, name);
    if (wanted === null || wanted === undefined) return true;
    // If no disk is to take over, a disk that could is left from a change that is no longer wanted.
    const replaced = name === undefined ? goal.diskMayBeReplaced : mayBeReplaced(goal, name);
    return !disk.active && disk.id !== (replaced ? newDisk(subject, name)?.id : undefined);
  });
}

const mayBeReplaced = ({ named }: StepSubject["goal"], name: string): boolean =>
  named !== undefined && (named.renewed.includes(name) || named.changed.includes(name));

export function theActiveDisk({ instance }: StepSubject): readonly DiskRecord[] {
  const disk = activeDisk(instance);
  return disk === undefined ? [] : [disk];
}

export function theNewDisk(subject: StepSubject): readonly DiskRecord[] {
  const disk = newDisk(subject);
  return disk === undefined ? [] : [disk];
}

/** Disks with names that leave the VM: all, those that come back to it later, or those that are to go by hand. */
export function disksToDetach({ instance, goal: { named, disksToGo } }: StepSubject): readonly DiskRecord[] {
  const freed = disksToGo ?? named?.freed;
  const disks = namedDisks(instance);
  return freed === undefined ? disks : disks.filter(({ cid }) => freed.includes(cid));
}

/** Returns for each wanted name the disk in use, or the one that takes over. */
export function wantedNamed(subject: StepSubject): readonly NamedRecord[] {
  const { instance, goal } = subject;
  return (goal.desired?.namedDisks ?? []).flatMap(({ name }) => {
    const fresh = mayBeReplaced(goal, name) ? newDisk(subject, name) : undefined;
    const disk = fresh ?? activeDisk(instance, name);
    return disk === undefined ? [] : [{ ...disk, name }];
  });
}

export interface NamedRecord extends DiskRecord {
  readonly name: string;
}

/** Returns the disks that the agent of the VM has linked. */
export const linkedDisks = (
  instance: InstanceRecord,
  vm: Pick<VmRecord, "cid">,
): readonly { readonly name: string; readonly cid: DiskCid }[] =>
  instance.disks.flatMap(({ name, cid, mounted, attachedTo }) =>
    name !== undefined && mounted && attachedTo === vm.cid ? [{ name, cid }] : [],
  );

/** Named disks that the CPI is to change: they are attached nowhere, and not what is wanted. */
export const disksToChange = ({
  instance,
  goal: { desired, named },
}: StepSubject): readonly { readonly disk: DiskRecord; readonly wanted: NamedDisk }[] =>
  (desired?.namedDisks ?? []).flatMap((wanted) => {
    const disk = activeDisk(instance, wanted.name);
    const free = disk?.attachedTo === null && named?.changed.includes(wanted.name) === true;
    return free && !diskFits(disk, wanted) ? [{ disk, wanted }] : [];
  });
