import { compareStemcellVersions } from "@slipway/engine/manifest/versions";
import { normalVersion } from "@slipway/protocol/release/release-mf";
import { isObject } from "@slipway/protocol/schema/json";
import type { ListedCompiled } from "../store/compiled-packages.ts";
import type { ReleaseSummary } from "../store/releases.ts";
import type { UploadedStemcell } from "../store/stemcells.ts";

/** Selects unused artifacts that may be deleted. All functions are pure. */

/** Number of the newest unused versions that stay, for going back or forth. */
const KEPT = 2;

export interface UnusedRelease {
  readonly name: string;
  /** The oldest first. */
  readonly versions: readonly string[];
}

/** Returns versions that are neither deployed nor in a runtime config; `named` reports the latter. */
export function unusedReleases(
  releases: readonly ReleaseSummary[],
  named: (name: string, version: string) => boolean,
  all: boolean,
): readonly UnusedRelease[] {
  return releases.flatMap(({ name, versions }) => {
    const unused = versions
      .filter((one) => one.deployments.length === 0 && !named(name, one.version))
      .map(({ version }) => version);
    const gone = all ? unused : unused.slice(0, -KEPT);
    return gone.length === 0 ? [] : [{ name, versions: gone }];
  });
}

/** Releases that runtime configs name, whatever else is in them. */
export function namedIn(configs: readonly unknown[]): (name: string, version: string) => boolean {
  const named = new Set(
    configs.flatMap((config) => {
      const releases = isObject(config) && Array.isArray(config.releases) ? config.releases : [];
      return releases.flatMap((one: unknown) =>
        isObject(one) ? [`${String(one.name)}/${normalVersion(String(one.version))}`] : [],
      );
    }),
  );
  return (name, version) => named.has(`${name}/${version}`);
}

/** A version counts once, whichever CPIs have it, and is used if it is with one of them. */
export function unusedStemcells(
  stemcells: readonly UploadedStemcell[],
  all: boolean,
): readonly UploadedStemcell[] {
  return [...new Set(stemcells.map(({ name }) => name))].flatMap((name) => {
    const rows = stemcells.filter((one) => one.name === name);
    const used = new Set(rows.filter((one) => one.deployments.length > 0).map(({ version }) => version));
    const unused = [...new Set(rows.map(({ version }) => version))]
      .filter((version) => !used.has(version))
      .sort(compareStemcellVersions);
    const gone = all ? unused : unused.slice(0, -KEPT);
    return gone.flatMap((version) => rows.filter((one) => one.version === version));
  });
}

/** Returns compiled packages for no stemcell that stays. One of the same line is enough: packages without source use it. */
export function unusedCompiled<T extends Pick<ListedCompiled, "stemcellOs" | "stemcellVersion">>(
  compiled: readonly T[],
  staying: readonly UploadedStemcell[],
): readonly T[] {
  const line = (version: string) => version.split(/[._]/, 1)[0];
  return compiled.filter(
    ({ stemcellOs, stemcellVersion }) =>
      !staying.some(
        ({ operatingSystem, version }) =>
          operatingSystem === stemcellOs && line(version) === line(stemcellVersion),
      ),
  );
}
