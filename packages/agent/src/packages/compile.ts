import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import {
  type Bundle,
  bundleOf,
  disableOthers,
  enable,
  install,
  makeStaging,
  uninstall,
  uninstallOthers,
} from "../bundles/bundle.ts";
import { removeTree } from "../bundles/remove-tree.ts";
import { isGzipped, unpack } from "../bundles/unpack.ts";
import { installMissing } from "../jobs/install.ts";
import { checkName, type PackagePlan, packagesOf, planJobs } from "../jobs/plan.ts";
import type { AgentServices, BlobSource } from "../services.ts";
import { CompileFailed } from "./errors.ts";
import { endLeftovers } from "./leftovers.ts";
import { packDirectory } from "./pack.ts";
import { runPackaging } from "./run-packaging.ts";

export interface PackageToCompile {
  readonly name: string;
  readonly version: string;
  readonly source: BlobSource;
  readonly dependencies: readonly PackagePlan[];
}

const MOST_OF_SOURCE = 2 ** 36;

/**
 * Compiles a package beside nothing but its dependencies and hands the archive to `deliver`. Afterwards, whatever came
 * of it, the packages are those of the applied spec again: none on a VM that only compiles.
 */
export async function compile<T>(
  compilation: PackageToCompile,
  deliver: (archive: string) => Promise<T>,
  services: AgentServices,
  signal: AbortSignal,
): Promise<T> {
  const { name, version, source, dependencies } = compilation;
  try {
    checkName(name, "package");
    if (version === "") throw CompileFailed({ name, why: "it has no version" });
    if (!source.blobId && !source.signedUrl)
      throw CompileFailed({ name, why: `No blobstore reference for package '${name}'` });
    await endLeftovers(services, signal);
    await keepApplied(services);
    return await compiled(compilation, dependencies, deliver, services, signal);
  } catch (cause) {
    if (CompileFailed.is(cause)) throw cause;
    throw CompileFailed({ name, why: messageTrail(cause) }, { cause });
  } finally {
    await keepApplied(services).catch((error: unknown) =>
      services.log.warn(`after compiling ${name}, packages are left: ${messageTrail(error)}`),
    );
  }
}

async function compiled<T>(
  { name, version, source }: PackageToCompile,
  dependencies: readonly PackagePlan[],
  deliver: (archive: string) => Promise<T>,
  services: AgentServices,
  signal: AbortSignal,
): Promise<T> {
  const { paths, random } = services;
  const collection = packagesOf(paths);
  const compileTarget = join(paths.compile, name);
  const archive = join(paths.dataTmp, `compiled-${random.hex(8)}.tgz`);
  const result = bundleOf(collection, name, version);
  try {
    await installMissing({ jobs: [], archive: undefined, packages: dependencies }, services, signal);
    for (const { bundle } of dependencies) await enable(bundle, random);
    const gzip = await services.blobs.use(source, signal, async (path) => {
      await unpackSource(name, path, compileTarget, services, signal);
      return await isGzipped(path, `the source of the package ${name}`);
    });
    await makeEmpty(result, services);
    if (await exists(join(compileTarget, "packaging")))
      await runPackaging({ name, version, compileTarget, installTarget: result.link }, paths, signal);
    await mkdir(paths.dataTmp, { recursive: true });
    await packDirectory(result.directory, archive, { name, gzip, signal });
    return await deliver(archive);
  } finally {
    await rm(archive, { force: true });
    await removeTree(compileTarget);
    await rm(result.link, { force: true });
    await uninstall(collection, result.directory, random);
  }
}

async function unpackSource(
  name: string,
  path: string,
  target: string,
  { paths }: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${target}-bosh-agent-unpack`;
  for (const directory of [target, unfinished]) await removeTree(directory);
  await mkdir(paths.compile, { recursive: true, mode: 0o755 });
  await mkdir(unfinished, { mode: 0o755 });
  try {
    await unpack(path, {
      what: `the source of the package ${name}`,
      placeOf: (entry) => ({ directory: unfinished, name: entry }),
      modeOf: (place, _, mode) => (place.name === "" ? 0o755 : mode),
      keepTimes: true,
      absoluteLinks: true,
      mostBytes: MOST_OF_SOURCE,
      signal,
    });
    await rename(unfinished, target);
  } catch (error) {
    await removeTree(unfinished);
    throw error;
  }
}

/** The install target: an empty directory behind a link, as everything under `packages` is. */
async function makeEmpty(result: Bundle, services: AgentServices): Promise<void> {
  const collection = packagesOf(services.paths);
  await uninstall(collection, result.directory, services.random);
  await install(result, await makeStaging(collection, services.random));
  await enable(result, services.random);
}

/** Upstream removes every package here, those of running jobs too; a package of the applied spec stays. */
async function keepApplied(services: AgentServices): Promise<void> {
  const collection = packagesOf(services.paths);
  const spec = await services.spec.load();
  const kept = spec === undefined ? [] : planJobs(spec, services.paths).packages.map(({ bundle }) => bundle);
  await disableOthers(collection, kept);
  await uninstallOthers(collection, kept, services.random);
}
