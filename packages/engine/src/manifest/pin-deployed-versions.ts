import type { StemcellRecord } from "../model/records.ts";
import type { Manifest } from "./model.ts";
import { candidates, compareStemcellVersions, compareVersions, isRelative } from "./versions.ts";

interface NameAndVersion {
  readonly name: string;
  readonly version: string;
}

/**
 * Replaces `latest` by the versions that the last deploy resolved it to, so that a restart or a recreate upgrades nothing.
 * A release or stemcell that the last deploy did not use keeps its relative version.
 */
export function pinDeployedVersions(
  manifest: Manifest,
  deployed: { readonly releases: readonly NameAndVersion[]; readonly stemcells: readonly NameAndVersion[] },
  uploaded: readonly StemcellRecord[],
): Manifest {
  const used = uploaded.filter((row) =>
    deployed.stemcells.some(({ name, version }) => row.name === name && row.version === version),
  );
  return {
    ...manifest,
    releases: manifest.releases.map((release) => {
      const versions = deployed.releases.filter(({ name }) => name === release.name);
      return { ...release, version: pinned(release.version, versions, compareVersions) };
    }),
    stemcells: manifest.stemcells.map((stemcell) => {
      const rows = used.filter((row) =>
        stemcell.os === undefined ? row.name === stemcell.name : row.operatingSystem === stemcell.os,
      );
      return { ...stemcell, version: pinned(stemcell.version, rows, compareStemcellVersions) };
    }),
  };
}

function pinned(
  wanted: string,
  deployed: readonly Pick<NameAndVersion, "version">[],
  compare: (a: string, b: string) => number,
): string {
  if (!isRelative(wanted)) return wanted;
  const versions = deployed.map(({ version }) => version);
  return [...candidates(wanted, versions)].sort(compare).at(-1) ?? wanted;
}
