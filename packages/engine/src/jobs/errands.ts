import type { KnownRelease } from "../releases/model.ts";

/** Part of an instance group that errands need. */
export interface ErrandGroup {
  readonly name: string;
  readonly lifecycle: "service" | "errand";
  readonly jobs: readonly { readonly name: string; readonly release: string }[];
}

/** Returns true if a job of a release can run as an errand. */
export type RunsAsErrand = (job: { readonly name: string; readonly release: string }) => boolean;

export function errandJobs(releases: Iterable<KnownRelease>): RunsAsErrand {
  const found = new Set<string>();
  for (const { name: release, jobs } of releases)
    for (const { name, job } of jobs) if (job.errand) found.add(`${release}/${name}`);
  return ({ name, release }) => found.has(`${release}/${name}`);
}

/** Names that `run-errand` takes: groups that are errands, and jobs that run as one. */
export function errandNames(groups: readonly ErrandGroup[], runs: RunsAsErrand): readonly string[] {
  const names = groups.flatMap(({ name, lifecycle, jobs }) => [
    ...(lifecycle === "errand" ? [name] : []),
    ...jobs.filter(runs).map((job) => job.name),
  ]);
  return [...new Set(names)].sort();
}

export interface ErrandChoice<G extends ErrandGroup> {
  /** Source of the name: a job in any group, or a group, whose first job runs. */
  readonly by: "job" | "group";
  readonly groups: readonly G[];
  /** True if both a job and a group have the name. */
  readonly ambiguous: boolean;
}

/** Chooses the groups that an errand runs in. `no-errand`: the name is that of a group that is not an errand. */
export function chooseErrand<G extends ErrandGroup>(
  name: string,
  groups: readonly G[],
  runs: RunsAsErrand,
): ErrandChoice<G> | "missing" | "no-errand" {
  const ofJob = groups.filter(({ jobs }) => jobs.some((job) => job.name === name && runs(job)));
  const named = groups.find((group) => group.name === name);
  if (ofJob.length > 0) return { by: "job", groups: ofJob, ambiguous: named !== undefined };
  if (named === undefined) return "missing";
  return named.lifecycle === "errand" ? { by: "group", groups: [named], ambiguous: false } : "no-errand";
}

/** Value of `--instance`: a group, or one of its instances by id, by index, or `first`. */
export interface ErrandFilter {
  readonly group: string;
  readonly id?: string | undefined;
}

interface Named {
  readonly group: string;
  readonly uuid: string;
  readonly index: number;
}

export function fitsFilter({ group, id }: ErrandFilter, instance: Named, all: readonly Named[]): boolean {
  if (instance.group !== group) return false;
  if (id === undefined || id === "") return true;
  if (id !== "first") return id === instance.uuid || id === String(instance.index);
  const [first] = all
    .filter((one) => one.group === group)
    .map(({ uuid }) => uuid)
    .sort();
  return first === instance.uuid;
}
