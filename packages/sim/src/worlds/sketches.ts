import type { NewTask } from "@slipway/director/tasks/task";
import { deployTask } from "../crash/scenarios/tasks.ts";
import type { GroupSketch, ManifestSketch } from "../director/manifests.ts";
import type { Chance } from "./plan.ts";

/** Deployments of the random histories. */
export const DEPLOYMENTS = ["shop", "other"] as const;

export const SIZES: Readonly<Record<string, number>> = { d1: 1024, d2: 2048, d3: 2048 };

const GROUPS = ["web", "db", "app"];

const firstGroup = (name: string, { hits, pick, below }: Chance): GroupSketch => ({
  name,
  instances: 1 + below(2),
  azs: hits(0.3) ? ["z1", "z2"] : ["z1"],
  vmType: pick(["small", "big"]),
  ...(hits(0.6) && { disk: pick(["d1", "d2"]) }),
});

/** Another manifest for a deployment: its first, or a change of the one before. */
export function nextSketch(name: string, before: ManifestSketch | undefined, chance: Chance): ManifestSketch {
  const { hits, pick, below } = chance;
  if (before === undefined)
    return {
      name,
      groups: GROUPS.slice(0, 1 + below(2)).map((group) => firstGroup(group, chance)),
      swap: hits(0.3),
      inFlight: 1 + below(3),
    };
  if (hits(0.15)) return before;
  if (hits(0.15)) return { ...before, swap: before.swap !== true };
  if (hits(0.15)) return { ...before, stemcell: pick(["1.1", "2.1", "2.2"]) };
  const missing = GROUPS.filter((group) => before.groups.every((one) => one.name !== group));
  if (missing.length > 0 && hits(0.2))
    return { ...before, groups: [...before.groups, firstGroup(pick(missing), chance)] };
  if (before.groups.length > 1 && hits(0.15)) {
    const gone = pick(before.groups);
    return { ...before, groups: before.groups.filter((one) => one !== gone) };
  }
  const changed = pick(before.groups);
  return {
    ...before,
    groups: before.groups.map((one) => (one === changed ? changeGroup(one, chance) : one)),
  };
}

function changeGroup(group: GroupSketch, { hits, pick, below }: Chance): GroupSketch {
  const { disk: _, disks: __, ...bare } = group;
  return pick<() => GroupSketch>([
    () => ({ ...group, instances: below(4) }),
    () => ({ ...group, vmType: group.vmType === "big" ? "small" : "big" }),
    () => ({ ...group, azs: hits(0.5) ? ["z1", "z2"] : [pick(["z1", "z2"])] }),
    () => ({ ...bare, disk: pick(["d1", "d2", "d3"]) }),
    () => bare,
    () => ({ ...bare, disks: { data: pick(["d1", "d2"]), ...(hits(0.5) && { wal: "d1" }) } }),
    () => ({ ...group, errand: group.errand !== true }),
    () => ({ ...group, jobs: hits(0.5) ? [{ name: "web", release: "web" }] : [] }),
  ])();
}

/** A deploy of a sketch. `release`: the version of `web` for groups with jobs. */
export function deployOf(sketch: ManifestSketch, release: string, options: object = {}): NewTask {
  const needs = sketch.groups.some(({ jobs = [] }) => jobs.length > 0);
  return deployTask({ ...sketch, releases: needs ? [{ name: "web", version: release }] : [] }, options);
}
