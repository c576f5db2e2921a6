import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { OpenedRelease } from "@slipway/engine/releases/archive";
import type { KnownJob } from "@slipway/engine/releases/model";
import { type PackageUpload, planReleaseUpload, type UploadPlan } from "@slipway/engine/releases/plan-upload";
import type { Job } from "@slipway/protocol/release/job-mf";
import type { ReleaseJob } from "@slipway/protocol/release/release-mf";
import { addEvent } from "../../store/events.ts";
import { jobsLike, packagesLike } from "../../store/release-parts.ts";
import { loadReleases } from "../../store/releases.ts";
import { type PackageToSave, type ReleaseToSave, saveRelease } from "../../store/save-release.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";
import { storeFile } from "./blobs.ts";

/** A job of a release that was opened: where its archive is, and what its job.MF says. */
export interface OpenedJob extends ReleaseJob {
  readonly job: Job;
  readonly file: string;
}

export type Opened = OpenedRelease<OpenedJob>;

export const planFor = async (
  { release, packages }: Opened,
  fix: boolean,
  { db, blobs }: OperationContext,
): Promise<UploadPlan> => {
  const [there] = await loadReleases(db, [release]);
  const stored = new Set(await blobs.list());
  const files = new Set(packages.filter(({ file }) => file !== undefined).map(({ name }) => name));
  return planReleaseUpload({
    release,
    there,
    jobs: await jobsLike(
      db,
      release.name,
      release.jobs.map(({ fingerprint }) => fingerprint),
    ),
    packages: await packagesLike(
      db,
      release.packages.map(({ fingerprint }) => fingerprint),
    ),
    holds: (name) => files.has(name),
    has: (id) => stored.has(id),
    fix,
  });
};

/** Stores the blobs first, then all rows at once. Until those are written no record names the blobs. */
export async function store(
  opened: Opened,
  plan: UploadPlan,
  fix: boolean,
  task: TaskContext,
  tools: OperationContext,
): Promise<void> {
  const { release } = opened;
  const shared: BlobId[] = [];
  const fileOf = new Map(opened.packages.map(({ name, file }) => [name, file]));
  const packages = await storePackages(plan.packages, fix, task, async (name, source) => {
    if (source === undefined) return undefined;
    if (source !== "archive") {
      shared.push(source.same.blobId);
      return source.same;
    }
    const file = fileOf.get(name) ?? "";
    const digest = opened.packages.find((one) => one.name === name)?.digest ?? "";
    return { blobId: await storeFile(file, task.id, tools), digest };
  });
  const jobs = await storeJobs(opened.jobs, plan, task, tools);
  const { name, version, commitHash, uncommittedChanges } = release;
  const whole: ReleaseToSave = { name, version, commitHash, uncommittedChanges, jobs, packages, shared };
  const done = release.compiled ? "Compiled Release has been created" : "Release has been created";
  await task.stage(done, [], 1).step(`${name}/${version}`, () =>
    task.write(async (db) => {
      await saveRelease(db, whole);
      const event = { action: "create", objectType: "release", objectName: `${name}/${version}` };
      await addEvent(db, { ...event, user: task.user, taskId: task.id });
    }),
  );
}

type Content = { readonly blobId: BlobId; readonly digest: string };

async function storePackages(
  plan: UploadPlan["packages"],
  fix: boolean,
  task: TaskContext,
  content: (name: string, source: PackageUpload["source"]) => Promise<Content | undefined>,
): Promise<PackageToSave[]> {
  const saved: PackageToSave[] = [];
  const take = async ({ name, version, fingerprint, dependencies, ...one }: PackageUpload) => {
    task.signal.throwIfAborted();
    const source = await content(name, one.source);
    const recompile = fix && one.compiled === undefined;
    saved.push({ name, version, fingerprint, dependencies, source, recompile, compiled: undefined });
  };
  const fresh = plan.filter(({ known }) => !known);
  const known = plan.filter((one) => one.known);
  if (fresh.length > 0) {
    const stage = task.stage("Creating new packages", [], fresh.length);
    for (const one of fresh) await stage.step(`${one.name}/${one.version}`, () => take(one));
  }
  if (known.length > 0)
    await single(task, `Processing ${counted(known.length, "package")}`, async () => {
      for (const one of known) await take(one);
    });
  const compiled = plan.filter((one) => one.compiled?.source !== undefined);
  if (plan.some((one) => one.compiled !== undefined)) {
    const stage = task.stage("Creating new compiled packages", [], compiled.length);
    for (const one of compiled)
      await stage.step(
        `${one.name}/${one.version} for ${one.compiled?.stemcellOs}/${one.compiled?.stemcellVersion}`,
        async () => {
          task.signal.throwIfAborted();
          const made = await content(one.name, one.compiled?.source);
          const at = saved.findIndex(({ name }) => name === one.name);
          const row = saved[at];
          if (made === undefined || row === undefined || one.compiled === undefined) return;
          const { source: _, ...key } = one.compiled;
          saved[at] = { ...row, compiled: { ...key, ...made } };
        },
      );
  }
  return saved;
}

async function storeJobs(
  opened: readonly OpenedJob[],
  plan: UploadPlan,
  task: TaskContext,
  tools: OperationContext,
): Promise<KnownJob[]> {
  const byName = new Map(opened.map((job) => [job.name, job]));
  const saved: KnownJob[] = [];
  const take = async ({ name, keeps }: UploadPlan["jobs"][number]) => {
    task.signal.throwIfAborted();
    const found = byName.get(name);
    if (found === undefined) return;
    const { file, ...job } = found;
    saved.push({ ...job, ...(keeps ?? { blobId: await storeFile(file, task.id, tools) }) });
  };
  const fresh = plan.jobs.filter(({ known }) => !known);
  const known = plan.jobs.filter((one) => one.known);
  if (fresh.length > 0) {
    const stage = task.stage("Creating new jobs", [], fresh.length);
    for (const one of fresh) await stage.step(`${one.name}/${one.version}`, () => take(one));
  }
  if (known.length > 0)
    await single(task, `Processing ${counted(known.length, "job")}`, async () => {
      for (const one of known) await take(one);
    });
  return saved;
}

const counted = (n: number, what: string): string => `${n} existing ${what}${n === 1 ? "" : "s"}`;

/** A stage of one step, which is called as the stage is. */
export const single = <T>(task: TaskContext, name: string, work: () => Promise<T>): Promise<T> =>
  task.stage(name, [], 1).step(name, work);
