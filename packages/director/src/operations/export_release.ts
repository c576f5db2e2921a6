import { type CompileStemcell, keyText, NeededPackages } from "@slipway/engine/compile/needed";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { PackedPackage } from "@slipway/engine/releases/compiled-archive";
import type { KnownJob, KnownRelease } from "@slipway/engine/releases/model";
import { contentDigest } from "@slipway/engine/stemcells/digest";
import { exportReleaseParams } from "@slipway/protocol/director/task-params";
import { normalVersion } from "@slipway/protocol/release/release-mf";
import type * as v from "valibot";
import { exportedReleases } from "../artifacts/exported.ts";
import { type DeploymentWithManifest, listDeployments, useStemcells } from "../store/deployments.ts";
import { loadInstances } from "../store/instances.ts";
import { loadReleases } from "../store/releases.ts";
import { listStemcells } from "../store/stemcells.ts";
import type { TaskContext } from "../tasks/task.ts";
import { compiledBefore, compilePackages } from "./compile/compile-packages.ts";
import { PackagesWithoutSource } from "./compile/errors.ts";
import { clearWorkers, Workers } from "./compile/workers.ts";
import { deployedRequest, type Gathered, gather } from "./deploy/gather.ts";
import { withReleaseLocks } from "./deploy/jobs-planner.ts";
import { NoSuchRelease, NoSuchReleaseVersion, NoSuchStemcell, NothingDeployed } from "./errors.ts";
import { deploymentLock, flowContext, type OperationContext, operation } from "./operation.ts";
import { removeUnreadBlobs } from "./releases/blobs.ts";
import { JobNotInRelease, ReleaseNotDeployed } from "./releases/errors.ts";
import { contentOf, packCompiled } from "./releases/pack-compiled.ts";

/** Time that upstream waits for a deploy. */
const LOCK_MS = 900_000;
/** The stemcell need not be one of the manifest. */
const ALIAS = "slipway-export";

type Params = v.InferOutput<typeof exportReleaseParams>;

/** A release of a deployment, compiled for a stemcell, as one blob. What is not compiled yet is, on VMs of the deployment. */
export const exportRelease = operation(exportReleaseParams, (params, task, tools) => {
  task.atEnd(() => removeUnreadBlobs(tools.db, tools.blobs));
  return task.withLock(deploymentLock(params.deployment), LOCK_MS, async () => {
    // A killed run has left these; no result names them.
    for (const { id, taskId } of await exportedReleases(tools.blobs))
      if (taskId === task.id) await tools.blobs.remove(id);
    const names = (await deployed(params.deployment, tools.db)).releases.map(({ name }) => name);
    const { release, jobs } = await withReleaseLocks(names, task, () => chosen(params, tools));
    const packages = await compiledFor(params, release, jobs, task, tools);
    const stemcell = { os: params.stemcell_os, version: params.stemcell_version };
    const { id, digest } = await packCompiled({ release, jobs, packages, stemcell }, task, tools);
    const sha1 = params.sha2
      ? digest
      : await contentDigest((await contentOf(id, release.name, tools.blobs)).content, "sha1");
    task.result({ blobstore_id: id, sha1 });
    return `Exported release: ${release.name}/${release.version} for ${stemcell.os}/${stemcell.version}`;
  });
});

async function chosen(
  params: Params,
  { db }: OperationContext,
): Promise<{ readonly release: KnownRelease; readonly jobs: readonly KnownJob[] }> {
  const { release: name, deployment } = params;
  const version = normalVersion(params.version);
  const [release] = await loadReleases(db, [{ name, version }]);
  if (release === undefined) {
    const others = await db.selectFrom("releases").select("id").where("name", "=", name).execute();
    throw others.length === 0 ? NoSuchRelease({ name }) : NoSuchReleaseVersion({ name, version });
  }
  const { releases } = await deployed(deployment, db);
  if (!releases.some((one) => one.name === name && one.version === version))
    throw ReleaseNotDeployed({ release: `${name}/${version}`, deployment });
  const missing = params.jobs.find((job) => !release.jobs.some((one) => one.name === job));
  if (missing !== undefined) throw JobNotInRelease({ job: missing, release: `${name}/${version}` });
  const wanted = new Set(params.jobs);
  return { release, jobs: release.jobs.filter((job) => wanted.size === 0 || wanted.has(job.name)) };
}

async function deployed(deployment: string, db: OperationContext["db"]): Promise<DeploymentWithManifest> {
  const [found] = await listDeployments(db, [deployment]);
  if (found === undefined || found.manifestText === null) throw NothingDeployed({ deployment });
  return found;
}

/** Returns the packages that the jobs are installed with, and those that they are compiled with. */
async function compiledFor(
  params: Params,
  release: KnownRelease,
  jobs: readonly KnownJob[],
  task: TaskContext,
  tools: OperationContext,
): Promise<readonly PackedPackage[]> {
  const stemcell = { os: params.stemcell_os, version: params.stemcell_version, alias: ALIAS };
  const rows = await stemcellRows(stemcell, tools);
  const deployment = await deployed(params.deployment, tools.db);
  const needed = new NeededPackages();
  for (const job of jobs) needed.ofJob(release, job, stemcell);
  const packages = needed.inOrder;
  const preparing = task.stage("Preparing package compilation", [], 1);
  const before = await preparing.step("Finding packages to compile", async () => {
    await task.write((db) => useStemcells(db, deployment.id, rows));
    const found = await compiledBefore(packages, tools);
    // A deploy takes those of another stemcell of the line; here they would pass for what they are not.
    const other = packages.filter(({ key }) => {
      const made = found.get(keyText(key));
      return made !== undefined && made.stemcellVersion !== key.stemcellVersion;
    });
    if (other.length > 0)
      throw PackagesWithoutSource({
        release: `${release.name}/${release.version}`,
        stemcell: `${stemcell.os}/${stemcell.version}`,
        packages: other.map((one) => `${one.package.name}/${one.package.fingerprint}`),
      });
    return found;
  });
  const context = flowContext(tools, task, deployment.name);
  const missing = packages.some(({ key }) => !before.has(keyText(key)));
  // VMs of a run that was killed when its last package was compiled; where one is missing, planning sees to them.
  if (!missing) {
    await settleOpenIntents(context);
    await clearWorkers(await loadInstances(tools.db, deployment.name), context);
  }
  const compiled = missing
    ? await compilePackages(
        packages,
        before,
        new Workers(await withStemcell(deployment, stemcell, task, tools), task, tools, context),
        task,
        tools,
      )
    : before;
  return packages.flatMap((one) => {
    const made = compiled.get(keyText(one.key));
    return made === undefined ? [] : [{ package: one.package, digest: made.digest, blobId: made.blobId }];
  });
}

async function stemcellRows({ os, version }: CompileStemcell, { db }: OperationContext): Promise<number[]> {
  const rows = (await listStemcells(db, { version })).filter((row) => row.operatingSystem === os);
  if (rows.length === 0) throw NoSuchStemcell({ name: os, version });
  return rows.map(({ id }) => id);
}

/** Returns the input for planning VMs of the deployment, with one more stemcell. */
async function withStemcell(
  { name }: DeploymentWithManifest,
  { alias, os, version }: CompileStemcell,
  task: TaskContext,
  tools: OperationContext,
): Promise<Gathered> {
  const request = await deployedRequest(name, tools);
  const found = await gather(request, tools, flowContext(tools, task, name), task);
  const { manifest } = found;
  const stemcells = [...manifest.stemcells, { alias, os, name: undefined, version }];
  return { ...found, manifest: { ...manifest, stemcells } };
}
