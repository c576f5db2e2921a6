import { isVersion } from "@slipway/engine/manifest/versions";
import { nextDevVersion, nextFinalVersion } from "@slipway/engine/releases/source/next-version";
import type { Clock } from "@slipway/kernel/clock";
import { syncBlobs } from "./blobs.ts";
import { type BuiltRelease, type BuiltResource, manifestText } from "./built-release.ts";
import { nameIn } from "./config.ts";
import { BadReleaseVersion, BlobNotFetched, CompiledRelease } from "./errors.ts";
import { gitState } from "./git.ts";
import { finalize, givenEnv, obtain, type ReleaseDirectory } from "./release-directory.ts";
import { readSource } from "./source.ts";

const MOST_NAMED = 3;

export interface CreateOptions {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly timestampVersion: boolean;
  readonly force: boolean;
  readonly clock: Clock;
}

/** Builds what changed, and notes the release among the dev releases. */
export async function createDevRelease(
  release: ReleaseDirectory,
  options: CreateOptions,
): Promise<BuiltRelease> {
  const { dir, config, tools, devReleases } = release;
  const name = options.name ?? nameIn(config, dir);
  const version =
    options.version === undefined ? await nextDev(release, name, options) : valid(options.version);
  await devReleases.mustNotHave(name, version);
  const git = await gitState(dir, { force: options.force, exec: tools.exec, env: givenEnv(tools.env) });
  const blobs = await syncBlobs(dir, release.store);
  const source = await readSource(dir, new Set(blobs.map(({ path }) => path)));
  const all = async (resources: typeof source.jobs) => {
    const built: BuiltResource[] = [];
    for (const resource of resources) {
      tools.stop.throwIfAborted();
      built.push(await obtain(release, resource));
    }
    return built;
  };
  const built: BuiltRelease = {
    name,
    version,
    commit: git.commit,
    uncommittedChanges: git.modified,
    noCompression: config.noCompression,
    packages: await all(source.packages),
    jobs: await all(source.jobs),
    license: source.license === undefined ? undefined : await obtain(release, source.license),
  };
  await devReleases.add(name, version, manifestText(built));
  noteRebuilt(release);
  return built;
}

/** Says in one line what could not be fetched and was built again. */
function noteRebuilt({ rebuilt, tools }: ReleaseDirectory): void {
  const [first] = rebuilt;
  if (first === undefined) return;
  const { where = "the blobstore", why = "" } = BlobNotFetched.paramsOf(first.error) ?? {};
  const shown = rebuilt.slice(0, MOST_NAMED).map(({ what }) => what);
  const rest = rebuilt.length > MOST_NAMED ? ` and ${rebuilt.length - MOST_NAMED} more` : "";
  const built = `Built from source: ${shown.join(", ")}${rest}`;
  tools.ui.note(`${built}. Their final builds cannot be fetched from ${where}: ${why}`);
}

/** The same release as a final one: its archives go to the blobstore. */
export async function finalizeRelease(
  release: ReleaseDirectory,
  built: BuiltRelease,
  asked: string | undefined,
): Promise<BuiltRelease> {
  const { finalReleases } = release;
  if (built.packages.some(({ stemcell }) => stemcell !== undefined)) throw CompiledRelease({});
  const version = asked === undefined ? await nextFinal(release, built.name) : valid(asked);
  await finalReleases.mustNotHave(built.name, version);
  const all = async (kind: "job" | "package", resources: readonly BuiltResource[]) => {
    const done: BuiltResource[] = [];
    for (const resource of resources) done.push(await finalize(release, kind, resource));
    return done;
  };
  const final: BuiltRelease = {
    ...built,
    version,
    packages: await all("package", built.packages),
    jobs: await all("job", built.jobs),
    license: built.license === undefined ? undefined : await finalize(release, "license", built.license),
  };
  await finalReleases.add(final.name, version, manifestText(final));
  return final;
}

async function nextDev(
  { devReleases, finalReleases }: ReleaseDirectory,
  name: string,
  { timestampVersion, clock }: CreateOptions,
): Promise<string> {
  const [dev, final] = [await devReleases.versions(name), await finalReleases.versions(name)];
  const now = timestampVersion ? Math.floor(clock.now() / 1000) : undefined;
  const next = nextDevVersion(dev, final, now);
  if (next === undefined) throw notANumber([...dev, ...final].at(-1) ?? "");
  return next;
}

async function nextFinal({ finalReleases }: ReleaseDirectory, name: string): Promise<string> {
  const versions = await finalReleases.versions(name);
  const next = nextFinalVersion(versions);
  if (next === undefined) throw notANumber(versions.at(-1) ?? "");
  return next;
}

const notANumber = (version: string) =>
  BadReleaseVersion({ version, why: "the last part of the last version is no number" });

function valid(version: string): string {
  if (!isVersion(version)) throw BadReleaseVersion({ version, why: "it is not in the format of versions" });
  return version;
}
