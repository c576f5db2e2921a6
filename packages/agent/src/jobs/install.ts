import { dirname } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { type Bundle, install, isInstalled, makeStaging } from "../bundles/bundle.ts";
import { BadArchive, NotInstalled } from "../bundles/errors.ts";
import { ownerLike } from "../bundles/owner.ts";
import { removeTree } from "../bundles/remove-tree.ts";
import { settleTrees } from "../bundles/settle.ts";
import { unpack } from "../bundles/unpack.ts";
import type { AgentServices, BlobSource } from "../services.ts";
import { parallelDownloads } from "../settings/effective.ts";
import { inParallel } from "./in-parallel.ts";
import { type AgentJobsPlan, jobsOf, type PackagePlan, packagesOf } from "./plan.ts";

/** Rendered templates are text; packages may hold anything. */
const MOST_OF_JOBS = 2 ** 31;
const MOST_OF_PACKAGE = 2 ** 36;

/** Unpacked beside its place, and not yet there. */
interface Staged {
  readonly bundle: Bundle;
  readonly staging: string;
}

/**
 * Fetches and unpacks what is missing. Either all of it gets its place, each part by one rename, or what was unpacked is
 * removed. Nothing that is in use is touched.
 */
export async function installMissing(
  plan: AgentJobsPlan,
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  const staged: Staged[] = [];
  try {
    const jobs = await missing(plan.jobs);
    const packages = await missingPackages(plan.packages);
    const works = packages.map((one) => (inner: AbortSignal) => stagePackage(one, staged, services, inner));
    const { archive } = plan;
    if (jobs.length > 0 && archive !== undefined)
      works.unshift((inner) => stageJobs(jobs, archive, staged, services, inner));
    await inParallel(works, parallelDownloads(services.settings.current()), signal);
    const roots = staged.map(({ staging }) => dirname(staging));
    await settleTrees([...new Set(roots)], services.exec);
    while (staged.length > 0) {
      const next = staged[0] as Staged;
      await install(next.bundle, next.staging);
      staged.shift();
    }
  } finally {
    for (const { staging } of staged) await removeTree(staging);
  }
}

/** Each once, also when a spec names it twice. */
async function missing(bundles: readonly Bundle[]): Promise<readonly Bundle[]> {
  const found = new Map<string, Bundle>();
  for (const bundle of bundles) if (!(await isInstalled(bundle))) found.set(bundle.directory, bundle);
  return [...found.values()];
}

async function missingPackages(packages: readonly PackagePlan[]): Promise<readonly PackagePlan[]> {
  const wanted = new Set(await missing(packages.map(({ bundle }) => bundle)));
  return packages.filter(({ bundle }) => wanted.has(bundle));
}

async function stagePackage(
  { name, bundle, source }: PackagePlan,
  staged: Staged[],
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  await naming(`package ${name}`, signal, async () => {
    const collection = packagesOf(services.paths);
    const staging = await makeStaging(collection, services.random);
    staged.push({ bundle, staging });
    await services.blobs.use(source, signal, (path) =>
      unpack(path, {
        what: `the package ${name}`,
        placeOf: (entry) => ({ directory: staging, name: entry }),
        modeOf: (place, _, mode) => (place.name === "" ? 0o755 : mode),
        keepTimes: true,
        absoluteLinks: true,
        mostBytes: MOST_OF_PACKAGE,
        signal,
      }),
    );
  });
}

/** All jobs come in one archive, which is read once. */
async function stageJobs(
  jobs: readonly Bundle[],
  archive: BlobSource,
  staged: Staged[],
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  const names = jobs.map(({ name }) => name).join(", ");
  await naming(`job ${names}`, signal, async () => {
    const collection = jobsOf(services.paths);
    const homes = new Map<string, string>();
    for (const bundle of jobs) {
      const staging = await makeStaging(collection, services.random);
      staged.push({ bundle, staging });
      homes.set(bundle.name, staging);
    }
    const owner = await ownerLike(collection.installed);
    const seen = new Set<string>();
    const placeOf = (entry: string) => {
      const [job = "", ...rest] = entry.split("/");
      const directory = homes.get(job);
      if (directory === undefined) return undefined;
      seen.add(job);
      return { directory, name: rest.join("/") };
    };
    await services.blobs.use(archive, signal, (path) =>
      unpack(path, {
        what: `the rendered templates of ${names}`,
        placeOf,
        modeOf: (place, kind) => (kind === "directory" || place.name.startsWith("bin/") ? 0o750 : 0o640),
        owner,
        keepTimes: false,
        absoluteLinks: false,
        mostBytes: MOST_OF_JOBS,
        signal,
      }),
    );
    for (const { name } of jobs)
      if (!seen.has(name))
        throw BadArchive({ what: "the rendered templates", why: `the job ${name} is not in it` });
  });
}

/** Whatever goes wrong, the operator must learn with which job or package. */
async function naming(what: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    signal.throwIfAborted();
    throw NotInstalled({ what, why: messageTrail(cause) }, { cause });
  }
}
