import type { Change } from "../model/goal.ts";
import type { InstanceJobs } from "../model/records.ts";

const NOTHING: InstanceJobs = {
  jobs: [],
  packages: [],
  configurationHash: "",
  templateHashes: {},
  files: {},
};

/** Returns the changes of an instance's jobs, each in words that name it. */
export function jobChanges(had: InstanceJobs | null, wanted: InstanceJobs | null): readonly Change[] {
  const before = had ?? NOTHING;
  const after = wanted ?? NOTHING;
  const jobs = compared(
    before.jobs.map(({ name, version }) => [name, version]),
    after.jobs.map(({ name, version }) => [name, version]),
    (name) => `job '${name}'`,
  );
  const packages = compared(
    before.packages.map(({ name, version, digest }) => [name, `${version} ${digest}`]),
    after.packages.map(({ name, version, digest }) => [name, `${version} ${digest}`]),
    (name) => `package '${name}'`,
  );
  return [
    ...jobs.map((reason): Change => ({ kind: "job", reason })),
    ...packages.map((reason): Change => ({ kind: "packages", reason })),
    ...fileChanges(before, after).map((reason): Change => ({ kind: "configuration", reason })),
  ];
}

function fileChanges(before: InstanceJobs, after: InstanceJobs): readonly string[] {
  if (before.configurationHash === after.configurationHash) return [];
  const both = new Set(after.jobs.map(({ name }) => name).filter((name) => has(before, name)));
  const ofBoth = (files: InstanceJobs["files"]) =>
    Object.entries(files).filter(([path]) => both.has(path.slice(0, path.indexOf("/"))));
  const found = compared(ofBoth(before.files), ofBoth(after.files), (path) => {
    const at = path.indexOf("/");
    return `template ${path.slice(at + 1)} of ${path.slice(0, at)}`;
  });
  // Whole jobs that came or went say so themselves.
  const sameJobs = both.size === after.jobs.length && both.size === before.jobs.length;
  return found.length > 0 || !sameJobs ? found : ["the order or form of its jobs' files changed"];
}

const has = ({ jobs }: InstanceJobs, name: string): boolean => jobs.some((job) => job.name === name);

type Pairs = readonly (readonly [name: string, value: string])[];

function compared(before: Pairs, after: Pairs, words: (name: string) => string): readonly string[] {
  const old = new Map(before);
  const now = new Map(after);
  return [
    ...[...now].flatMap(([name, value]) => {
      const had = old.get(name);
      if (had === undefined) return [`${words(name)} is new`];
      return had === value ? [] : [`${words(name)} changed`];
    }),
    ...[...old.keys()].filter((name) => !now.has(name)).map((name) => `${words(name)} is no longer wanted`),
  ];
}
