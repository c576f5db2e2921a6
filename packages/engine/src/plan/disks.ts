import type { DiskCid } from "@slipway/protocol/ids";
import { sameJson } from "../model/equal.ts";
import type { DesiredInstance } from "../model/goal.ts";
import type { CpiName } from "../model/names.ts";
import { activeDisks, type DiskRecord, type InstanceRecord } from "../model/records.ts";
import type { PlanInput } from "./model.ts";

type WantedDisk = DesiredInstance["persistentDisk"];

export interface DiskRules {
  /** CPI of the instance's VM: disks of another CPI cannot be attached to it. */
  readonly cpi: CpiName;
  readonly resizeByCpi: boolean;
  readonly updateByCpi: boolean;
  /** A new disk even if the old one would do, unless that was made since. Undefined: what would do is kept. */
  readonly renewBefore: number | undefined;
}

/** Work on the disks of an instance. */
export interface DiskWork {
  readonly how: "none" | "keep" | "first" | "copy" | "resize" | "update" | "remove";
  readonly wanted: WantedDisk;
  /** The one with the data. */
  readonly active: DiskRecord | undefined;
  /** Made by an interrupted change, not copied to yet: taken instead of a new one. */
  readonly fresh: DiskRecord | undefined;
  /** Orphaned in the end. Never deleted. */
  readonly old: readonly DiskRecord[];
}

export function diskWork(
  wanted: WantedDisk,
  recorded: Pick<InstanceRecord, "disks"> | undefined,
  rules: DiskRules,
): DiskWork {
  // All of one name.
  const disks = recorded?.disks ?? [];
  const active = disks.find((disk) => disk.active);
  const inactive = disks.filter((disk) => !disk.active);
  if (wanted === null)
    return { wanted, how: active === undefined ? "none" : "remove", active, fresh: undefined, old: disks };
  const fits = active !== undefined && matches(active, wanted);
  const renew = active !== undefined && isOlder(active, rules.renewBefore);
  if (fits && !renew) return { wanted, how: "keep", active, fresh: undefined, old: inactive };
  // Ids count up: an inactive disk from before the active one is its predecessor. A predecessor of a named disk still has the
  // data, since nothing is copied, so it is used again when the change is undone.
  const fresh = inactive.findLast(
    (disk) =>
      disk.cpi === rules.cpi &&
      matches(disk, wanted) &&
      (active === undefined || disk.id > active.id || (disk.name !== undefined && !fits)),
  );
  const leftovers = inactive.filter((disk) => disk !== fresh);
  if (active === undefined) return { wanted, how: "first", active, fresh, old: leftovers };
  const byCpi = fresh === undefined && !renew;
  const sameProperties = sameJson(active.cloudProperties, wanted.cloudProperties);
  if (byCpi && rules.resizeByCpi && sameProperties && wanted.size > active.size)
    return { wanted, how: "resize", active, fresh, old: leftovers };
  if (byCpi && rules.updateByCpi && wanted.size >= active.size)
    return { wanted, how: "update", active, fresh, old: leftovers };
  return { wanted, how: "copy", active, fresh, old: [...leftovers, active] };
}

/** Returns true if a new disk may take over: by copy, or because the CPI cannot change the present one. */
export const mayBeReplaced = ({ how }: DiskWork): boolean =>
  how === "first" || how === "copy" || how === "resize" || how === "update";

const isOlder = ({ createdAt = 0 }: DiskRecord, time: number | undefined): boolean =>
  time !== undefined && createdAt < time;

const matches = (disk: DiskRecord, wanted: NonNullable<WantedDisk>): boolean =>
  disk.size === wanted.size && sameJson(disk.cloudProperties, wanted.cloudProperties);

export const isAttached = (disk: DiskRecord, vm: { readonly cid: string } | undefined): boolean =>
  vm !== undefined && disk.attachedTo === vm.cid;

/**
 * Returns the disks to snapshot. As upstream, these are the disks of a started instance, whose jobs are stopped first. They may
 * be stopped by now: the task may have been interrupted in between. Disks that the task has made itself hold no earlier data.
 */
export const disksToSnapshot = (
  recorded: InstanceRecord | undefined,
  { director, options }: Pick<PlanInput, "director" | "options">,
): readonly DiskCid[] =>
  director.enableSnapshots === true && recorded?.state === "started"
    ? activeDisks(recorded)
        .filter(({ createdAt = 0 }) => createdAt < (options.askedAt ?? Number.POSITIVE_INFINITY))
        .map(({ cid }) => cid)
    : [];
