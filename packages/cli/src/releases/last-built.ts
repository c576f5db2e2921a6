import { compareVersions } from "@slipway/engine/manifest/versions";
import { lastVersion } from "@slipway/engine/releases/source/next-version";
import type { BuiltRelease } from "./built-release.ts";
import { nameIn } from "./config.ts";
import { NoReleaseMade } from "./errors.ts";
import { readBuilt } from "./read-manifest.ts";
import type { ReleaseDirectory } from "./release-directory.ts";

/** A release that was made in a directory, dev or final: of a version, or the greatest. */
export async function lastBuilt(
  release: ReleaseDirectory,
  asked: { readonly name?: string | undefined; readonly version?: string | undefined } = {},
): Promise<BuiltRelease> {
  const { dir, config, devReleases, finalReleases } = release;
  const name = asked.name ?? nameIn(config, dir);
  const wanted = (versions: readonly string[]) =>
    asked.version === undefined ? lastVersion(versions) : versions.find((one) => one === asked.version);
  const dev = wanted(await devReleases.versions(name));
  const final = wanted(await finalReleases.versions(name));
  const isFinal = final !== undefined && (dev === undefined || compareVersions(final, dev) >= 0);
  const version = isFinal ? final : dev;
  if (version === undefined) throw NoReleaseMade({ dir });
  return await readBuilt(release, (isFinal ? finalReleases : devReleases).manifestFile(name, version));
}
