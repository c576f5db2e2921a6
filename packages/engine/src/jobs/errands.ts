import type { KnownRelease } from "../releases/model.ts";

/** As far as errands go: what a manifest says of a group. */
export interface ErrandGroup {
  readonly name: string;
  readonly lifecycle: "service" | "errand";
  readonly jobs: readonly { readonly name: string; readonly release: string }[];
}

/** Whether a job of a release has something to run. */
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
  /** Of whom it is the errand: a job, wherever it is, or a group's first job. */
  readonly by: "job" | "group";
  readonly groups: readonly G[];
  /** It is the name of a job and of a group. */
  readonly ambiguous: boolean;
}

/** Which groups an errand runs in. `no-errand`: there is such a group, and it is none. */
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

/** What `--instance` names: a group, or one of it by id, by index, or the `first`. */
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
