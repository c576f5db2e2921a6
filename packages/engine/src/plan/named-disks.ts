import { differences } from "../model/equal.ts";
import type { Change, DesiredInstance, NamedDiskGoal } from "../model/goal.ts";
import { type InstanceRecord, namedDisks, type VmRecord } from "../model/records.ts";
import { type DiskRules, type DiskWork, diskWork, isAttached } from "./disks.ts";
import type { StepList } from "./steps.ts";

/**
 * Work on the disks of one name. `copy` puts a new disk in place: nothing is copied, since the Director does not know the
 * content.
 */
export interface NamedDiskWork extends DiskWork {
  readonly name: string;
}

export function namedDiskWork(
  wanted: DesiredInstance["namedDisks"],
  recorded: InstanceRecord | undefined,
  rules: DiskRules,
): readonly NamedDiskWork[] {
  const had = recorded === undefined ? [] : namedDisks(recorded);
  const names = new Set(
    [...(wanted ?? []), ...had].flatMap(({ name }) => (name === undefined ? [] : [name])),
  );
  return [...names].map((name) => {
    const one = wanted?.find((disk) => disk.name === name);
    const disk = one === undefined ? null : { size: one.size, cloudProperties: one.cloudProperties };
    return { name, ...diskWork(disk, { disks: had.filter((each) => each.name === name) }, rules) };
  });
}

const byCpi = ({ how }: NamedDiskWork): boolean => how === "resize" || how === "update";
const renewed = ({ how }: NamedDiskWork): boolean => how === "first" || how === "copy";

/** Returns the disks that leave a VM that stays: to be changed, or to be attached again. */
const freed = (works: readonly NamedDiskWork[], vm: VmRecord) =>
  works.flatMap((work) => {
    const { active, how } = work;
    if (active === undefined || !isAttached(active, vm)) return [];
    return byCpi(work) || (how === "keep" && !active.mounted) ? [active.cid] : [];
  });

/** `vm`: the one that stays. */
export const namedDiskGoal = (works: readonly NamedDiskWork[], vm: VmRecord | undefined): NamedDiskGoal => ({
  renewed: works.filter(renewed).map(({ name }) => name),
  changed: works.filter(byCpi).map(({ name }) => name),
  freed: vm === undefined ? undefined : freed(works, vm),
});

export function namedDiskChanges(
  works: readonly NamedDiskWork[],
  vm: VmRecord | undefined,
): readonly Change[] {
  const found = works.flatMap((work): readonly string[] => {
    const { name, how, active, wanted } = work;
    if (how === "first") return [`gets the disk '${name}' of ${wanted?.size} MB`];
    if (how === "remove") return [`disk '${name}' ('${active?.cid}') is no longer wanted`];
    if (byCpi(work) || how === "copy") return changesOf(work);
    if (how !== "keep" || active === undefined || vm === undefined) return [];
    if (!isAttached(active, vm)) return [`disk '${name}' ('${active.cid}') is not attached`];
    return active.mounted ? [] : [`disk '${name}' ('${active.cid}') is not linked`];
  });
  return found.map((reason) => ({ kind: "persistent_disk", reason }));
}

function changesOf({ name, active, wanted }: NamedDiskWork): readonly string[] {
  const found: string[] = [];
  if (active?.size !== wanted?.size) found.push(`disk '${name}' ${active?.size} MB -> ${wanted?.size} MB`);
  const names = differences(active?.cloudProperties, wanted?.cloudProperties);
  if (names.length > 0) found.push(`cloud properties of disk '${name}' changed: ${names.join(", ")}`);
  return found.length > 0 ? found : [`a new disk '${name}' was asked for`];
}

const listed = (works: readonly NamedDiskWork[]): string => works.map(({ name }) => `'${name}'`).join(", ");

/** While they are off the VM. `vm`: the one that stays. */
export function changeNamedDisks(
  works: readonly NamedDiskWork[],
  list: StepList,
  vm: VmRecord | undefined,
): void {
  if (vm !== undefined && freed(works, vm).length > 0) {
    list.add("dissociate_disks", "a disk must leave the VM for a moment");
    list.add("detach_named_disk", "it is changed, or the CPI says again where it is");
  }
  const why = "the CPI changes the disk itself, what is on it stays";
  if (works.some(({ how }) => how === "resize")) list.add("resize_named_disks", why);
  if (works.some(({ how }) => how === "update")) list.add("update_named_disks", why);
}

/** All that are wanted on the VM and linked, and the others off it and among the orphans. */
export function planNamedDisks(
  works: readonly NamedDiskWork[],
  list: StepList,
  vm: VmRecord | undefined,
): void {
  const wanted = works.filter((work) => work.wanted !== null);
  const missing = works.filter((work) => renewed(work) && work.fresh === undefined);
  const inPlace = (work: NamedDiskWork) => {
    const disk = work.fresh ?? work.active;
    return disk !== undefined && isAttached(disk, vm) && disk.mounted && !renewed(work) && !byCpi(work);
  };
  const moving = wanted.filter((work) => !inPlace(work));
  if (missing.length > 0) list.add("create_named_disk", `new: ${listed(missing)}`);
  if (moving.length > 0) list.add("attach_named_disk", listed(moving));
  if (works.some(renewed))
    list.add("switch_named_disk", `in use from now on: ${listed(works.filter(renewed))}`);
  if (works.some(byCpi)) newInstead(works.filter(byCpi), list);
  const old = works.flatMap((work) => work.old);
  const left = old.filter((disk) => isAttached(disk, vm));
  if (moving.length > 0 || left.length > 0)
    list.add("associate_disks", wanted.length === 0 ? "none is left" : `linked: ${listed(wanted)}`);
  const why = works.some(({ how }) => how === "copy") ? "replaced; nothing is copied" : "no longer wanted";
  if (left.length > 0) {
    list.add("unmount_old_disk", why);
    list.add("detach_old_disk", why);
  }
  if (old.length > 0) list.add("orphan_disk", `kept for some days: ${why}`);
}

/** Adds the steps for a new disk, as with a CPI that is not asked at all. */
function newInstead(works: readonly NamedDiskWork[], list: StepList): void {
  const add = (name: Parameters<StepList["addIf"]>[1], reason: string) =>
    list.addIf("cpi_cannot_change_named_disk", name, reason);
  add("create_named_disk", `a new one: ${listed(works)}`);
  add("switch_named_disk", "in use from now on; nothing is copied");
  add("unmount_old_disk", "replaced");
  add("detach_old_disk", "replaced");
  add("orphan_disk", "kept for some days: replaced; nothing is copied");
}
