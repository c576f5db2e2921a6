import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Agent, PackageBlob } from "@slipway/engine/agents/agent";
import { jobsSpec } from "@slipway/engine/jobs/spec";
import type { UnpackedPackage } from "@slipway/engine/releases/archive";
import type { JobsToRun } from "@slipway/engine/steps/context";
import { configurationHash, type RenderedJob, templateHash } from "@slipway/engine/templates/render-job";
import { renderedArchive } from "@slipway/engine/templates/rendered-archive";
import type { Random } from "@slipway/kernel/random";
import { PackageWithoutSource } from "../errors.ts";
import type { Stages } from "../stages.ts";

/** Jobs and packages that the only instance is to run. */
export interface EnvJobsPlan {
  readonly group: string;
  readonly jobs: readonly { readonly rendered: RenderedJob; readonly fingerprint: string }[];
  /** In the order they are compiled in. */
  readonly packages: readonly UnpackedPackage[];
  /** Packages needed at run time, without those needed only to compile. */
  readonly installed: readonly string[];
}

/** Compiles the packages on the VM itself, as upstream does, and tells the agent what to install. */
export const jobsToRun = (plan: EnvJobsPlan, stages: Stages, random: Random): JobsToRun => ({
  deliver: async (_instance, agent, signal) => {
    const compiled = new Map<string, PackageBlob>();
    for (const one of plan.packages) {
      const needed = one.dependencies.flatMap((name) => compiled.get(name) ?? []);
      const words = `Compiling package '${one.name}/${one.fingerprint}'`;
      compiled.set(
        one.name,
        await stages.step(words, () => bringPackage(one, needed, agent, random, signal)),
      );
    }
    const jobs = plan.jobs.map(({ rendered }) => rendered);
    const archive = await renderedArchive(jobs);
    const blobId = random.uuid();
    await agent.putBlob(blobId, archive.bytes, { signal });
    return jobsSpec(
      plan.group,
      {
        jobs: plan.jobs.map(({ rendered, fingerprint }) => ({ name: rendered.name, version: fingerprint })),
        packages: plan.installed.flatMap((name) => compiled.get(name) ?? []),
        configurationHash: configurationHash(jobs),
        templateHashes: Object.fromEntries(jobs.map((job) => [job.name, templateHash(job)])),
      },
      { blobId, digest: archive.digest },
    );
  },
});

async function bringPackage(
  { name, fingerprint: version, digest, file, stemcell }: UnpackedPackage,
  dependencies: readonly PackageBlob[],
  agent: Agent,
  random: Random,
  signal: AbortSignal,
): Promise<PackageBlob> {
  if (file === undefined) throw PackageWithoutSource({ name });
  const source = { name, version, digest, blobId: random.uuid() };
  const { size } = await stat(file);
  await agent.putBlob(source.blobId, { size, content: createReadStream(file) }, { signal });
  // A compiled one is used as it is.
  if (stemcell !== undefined) return source;
  return { name, version, ...(await agent.compilePackage(source, dependencies, { signal })) };
}
