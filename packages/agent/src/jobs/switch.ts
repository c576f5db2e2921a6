import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import {
  type Bundle,
  disableOthers,
  enable,
  isInstalled,
  mayEnable,
  sweepUnfinished,
  uninstallOthers,
} from "../bundles/bundle.ts";
import { makeOwned, ownerLike } from "../bundles/owner.ts";
import { settleTrees } from "../bundles/settle.ts";
import type { Paths } from "../paths.ts";
import type { AgentServices } from "../services.ts";
import { fileSpecStore } from "../state/spec-store.ts";
import { removeState, sweepTemporaries } from "../state/state-file.ts";
import { installMissing } from "./install.ts";
import { type AgentJobsPlan, jobsOf, packagesOf, packagesOfJob, planJobs } from "./plan.ts";

/**
 * Puts the jobs and packages of a spec in place of those before. Until `applying.json` is written, all is as it was;
 * from then on it is finished, by this process or by the next start of the agent. So there are the old jobs or the new
 * ones, and `spec.json` says which.
 */
export async function applyJobs(
  spec: ApplySpec,
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  const plan = planJobs(spec, services.paths);
  await installMissing(plan, services, signal);
  for (const bundle of bundlesOf(plan)) await mayEnable(bundle);
  signal.throwIfAborted();
  // Between this and the next start nothing is supervised.
  await services.supervisor.watch([], signal);
  await fileSpecStore(services.paths.applying, services).save(spec);
  await finish(spec, plan, services);
  if (plan.archive !== undefined) await services.blobs.remove(plan.archive.blobId);
  await cleanUp(plan, services);
}

/** Fetches what a spec will need; what is in use stays in use. */
export async function prepareJobs(
  spec: ApplySpec,
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  const plan = planJobs(spec, services.paths);
  await installMissing(plan, services, signal);
  if (plan.archive !== undefined) await services.blobs.remove(plan.archive.blobId);
}

/**
 * At the start of the agent: finishes what an agent that was killed had begun, and makes what a reboot has taken. A
 * failure is only told: an agent that nobody reaches could not be told to apply again.
 */
export async function restoreJobs(services: AgentServices): Promise<void> {
  const { paths, log } = services;
  try {
    await sweepTemporaries([paths.applying, paths.spec, ...instanceFiles(paths)]);
    const { jobs, dataJobs, packages, dataPackages, sysLog, sysRun, data } = paths;
    await sweepUnfinished([jobs, dataJobs, packages, dataPackages, sysLog, sysRun, data]);
    await finishBegun(services);
    const spec = await services.spec.load();
    if (spec !== undefined) await jobDirectories(planJobs(spec, paths).jobs, services);
  } catch (error) {
    log.error(`the jobs are not as the last apply wants them: ${messageTrail(error)}`);
  }
}

async function finishBegun(services: AgentServices): Promise<void> {
  const { paths, log } = services;
  const begun = await fileSpecStore(paths.applying, services).load();
  if (begun === undefined) return;
  const plan = planJobs(begun, paths);
  const there = await Promise.all(bundlesOf(plan).map(isInstalled));
  if (there.every(Boolean)) {
    await finish(begun, plan, services);
    log.info("an apply that was cut off is finished");
  } else {
    // Only a new ephemeral disk loses them, and the links with them. The Director applies again.
    log.warn("an apply that was cut off is given up: its jobs or packages are gone");
    await removeState(paths.applying);
  }
}

const bundlesOf = ({ jobs, packages }: AgentJobsPlan): readonly Bundle[] => [
  ...jobs,
  ...packages.map(({ bundle }) => bundle),
];

/** Every part of it may be done already. */
async function finish(spec: ApplySpec, plan: AgentJobsPlan, services: AgentServices): Promise<void> {
  const { paths, random } = services;
  const packages = plan.packages.map(({ bundle }) => bundle);
  await jobDirectories(plan.jobs, services);
  for (const bundle of packages) await enable(bundle, random);
  for (const job of plan.jobs) {
    await linkPackages(job, packages, services);
    await enable(job, random);
  }
  await disableOthers(jobsOf(paths), plan.jobs);
  await disableOthers(packagesOf(paths), packages);
  await writeInstanceFiles(spec, services);
  // The spec may be on another disk than what it speaks of, and must not be ahead of it.
  await settleTrees([paths.jobs, paths.packages, paths.dataJobs, paths.dataPackages], services.exec);
  await services.spec.save(spec);
  await removeState(paths.applying);
}

/** Every job has a link to every package of the instance, as upstream does it. */
async function linkPackages(
  job: Bundle,
  packages: readonly Bundle[],
  { paths, random }: AgentServices,
): Promise<void> {
  const own = packagesOfJob(job, paths);
  await makeOwned(own.enabled, 0o750, await ownerLike(job.directory));
  for (const { name, directory } of packages)
    await enable({ name, directory, link: join(own.enabled, name) }, random);
  await disableOthers(own, packages);
}

/** For logs, pids and data of each job; made only if missing, so that nothing of a job's own is changed. */
async function jobDirectories(jobs: readonly Bundle[], { paths }: AgentServices): Promise<void> {
  const owner = jobs.length === 0 ? undefined : await ownerLike(paths.sysLog);
  for (const { name } of jobs)
    for (const home of [paths.sysLog, paths.sysRun, paths.data])
      await makeOwned(join(home, name), 0o770, owner);
}

const INSTANCE_FILES = ["id", "az", "name", "deployment"] as const;

const instanceFiles = ({ instanceDir }: Paths) => INSTANCE_FILES.map((key) => join(instanceDir, key));

export async function writeInstanceFiles(spec: ApplySpec, { paths }: AgentServices): Promise<void> {
  await mkdir(paths.instanceDir, { recursive: true, mode: 0o755 });
  for (const key of INSTANCE_FILES) {
    const [path, content] = [join(paths.instanceDir, key), spec[key] ?? ""];
    // Most of them stay the same for the life of the VM.
    if ((await ifThere(readFile(path, "utf8"))) !== content) await writeFileAtomic(path, content, 0o644);
  }
}

async function cleanUp(plan: AgentJobsPlan, { paths, random }: AgentServices): Promise<void> {
  await uninstallOthers(jobsOf(paths), plan.jobs, random);
  await uninstallOthers(
    packagesOf(paths),
    plan.packages.map(({ bundle }) => bundle),
    random,
  );
}
