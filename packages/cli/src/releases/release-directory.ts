import { copyFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { SlipwayError } from "@slipway/kernel/errors";
import type { Exec } from "@slipway/kernel/exec";
import type { Random } from "@slipway/kernel/random";
import type { Ui } from "../ui/ui.ts";
import { ArchiveCache } from "./archive-cache.ts";
import { blobstoreOf, isNotFetched, type ReleaseBlobstore } from "./blobstore.ts";
import { BuildIndex, type ResourceKind } from "./build-index.ts";
import { buildResource } from "./build-resource.ts";
import type { BuiltResource } from "./built-release.ts";
import { type ReleaseConfig, readConfig } from "./config.ts";
import { ArchiveLost } from "./errors.ts";
import { ReleaseIndex } from "./release-index.ts";
import type { SourceResource } from "./source.ts";

export interface DirectoryTools {
  readonly ui: Pick<Ui, "live" | "progress" | "note">;
  readonly clock: Clock;
  readonly random: Random;
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stop: AbortSignal;
}

/** A release directory, and what was built of it before. */
export interface ReleaseDirectory {
  readonly dir: string;
  readonly config: ReleaseConfig;
  readonly store: ReleaseBlobstore;
  readonly cache: ArchiveCache;
  readonly devBuilds: BuildIndex;
  readonly finalBuilds: BuildIndex;
  readonly devReleases: ReleaseIndex;
  readonly finalReleases: ReleaseIndex;
  readonly tools: DirectoryTools;
  /** Resources that were built from source because their final builds could not be fetched, with the reasons. */
  readonly rebuilt: { readonly what: string; readonly error: SlipwayError }[];
}

export async function openReleaseDirectory(
  given: string | undefined,
  tools: DirectoryTools,
): Promise<ReleaseDirectory> {
  const dir = resolve(given ?? ".");
  const config = await readConfig(dir);
  return {
    dir,
    config,
    store: blobstoreOf(dir, config, tools),
    cache: new ArchiveCache(tools.env, tools.random),
    devBuilds: new BuildIndex(dir, ".dev_builds"),
    finalBuilds: new BuildIndex(dir, ".final_builds"),
    devReleases: new ReleaseIndex(dir, "dev_releases", tools.random),
    finalReleases: new ReleaseIndex(dir, "releases", tools.random),
    tools,
    rebuilt: [],
  };
}

/** The environment of programs that are run for the release's author. */
export const givenEnv = (env: DirectoryTools["env"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );

/** The archive of a resource: one that was built before, or a new one, which is then known. */
export async function obtain(release: ReleaseDirectory, resource: SourceResource): Promise<BuiltResource> {
  const { kind, name, fingerprint, source, needs } = resource;
  const built = { name, fingerprint, needs };
  const known = await findBuild(release, kind, name, fingerprint);
  if (known.found !== undefined) return { ...built, ...known.found };
  if (source === undefined) throw known.error;
  if (isNotFetched(known.error)) release.rebuilt.push({ what: `${kind} '${name}'`, error: known.error });
  const { tools, cache, devBuilds } = release;
  return await adding(tools, `${kind} '${name}/${fingerprint}'`, async () => {
    const build = { cache, exec: tools.exec, env: givenEnv(tools.env), stop: tools.stop };
    const { path, digest } = await buildResource(release.dir, resource, source, build);
    await devBuilds.put(kind, name, { fingerprint, digest, blobstoreId: undefined });
    return { ...built, digest, file: path };
  });
}

type Known =
  | { readonly found: { readonly digest: string; readonly file: string } }
  | { readonly found: undefined; readonly error: SlipwayError };

/** First among the dev builds, then among the final ones, whose archives the blobstore has. */
export async function findBuild(
  { devBuilds, finalBuilds, cache, store }: ReleaseDirectory,
  kind: ResourceKind,
  name: string,
  fingerprint: string,
): Promise<Known> {
  const what = `${kind} '${name}'`;
  const lost = (why: string): Known => ({
    found: undefined,
    error: ArchiveLost({ what: name, fingerprint, why }),
  });
  const dev = await devBuilds.find(kind, name, fingerprint);
  const here = dev === undefined ? undefined : await cache.find(dev.digest, what);
  if (dev !== undefined && here !== undefined) return { found: { digest: dev.digest, file: here } };
  const final = await finalBuilds.find(kind, name, fingerprint);
  if (final === undefined)
    return lost(dev === undefined ? "no index has it" : "its archive is not in the cache");
  const { digest, blobstoreId } = final;
  const cached = await cache.find(digest, what);
  if (cached !== undefined) return { found: { digest, file: cached } };
  if (blobstoreId === undefined) return lost("its archive is not in the cache");
  try {
    const file = await cache.take((to) => store.fetch(blobstoreId, to), digest, what);
    return { found: { digest, file } };
  } catch (error) {
    if (isNotFetched(error)) return { found: undefined, error };
    throw error;
  }
}

/** Uploads its archive unless a final release has it already. */
export async function finalize(
  release: ReleaseDirectory,
  kind: ResourceKind,
  built: BuiltResource,
): Promise<BuiltResource> {
  const { finalBuilds, cache, store, tools } = release;
  const { name, fingerprint, file, digest } = built;
  const known = await finalBuilds.find(kind, name, fingerprint);
  if (known !== undefined) {
    const what = `${kind} '${name}'`;
    const path =
      (await cache.find(known.digest, what)) ??
      (await cache.take((to) => store.fetch(known.blobstoreId ?? "", to), known.digest, what));
    return { ...built, digest: known.digest, file: path };
  }
  if (file === "")
    throw ArchiveLost({ what: name, fingerprint, why: "the release does not hold its archive" });
  return await adding(tools, `${kind} '${name}/${fingerprint}'`, async () => {
    const path =
      (await cache.find(digest, name)) ?? (await cache.take((to) => copyFile(file, to), digest, name));
    const blobstoreId = await store.put(path);
    await finalBuilds.put(kind, name, { fingerprint, digest, blobstoreId });
    return { ...built, file: path };
  });
}

async function adding<T>({ ui }: DirectoryTools, what: string, work: () => Promise<T>): Promise<T> {
  if (!ui.live) return await work();
  const progress = ui.progress(`Adding ${what}...`);
  try {
    const result = await work();
    progress.done(`Added ${what}`);
    return result;
  } catch (error) {
    progress.failed(`Failed adding ${what}`);
    throw error;
  }
}
