import { isObject } from "@slipway/protocol/schema/json";
import { own, type Tree } from "../documents/tree.ts";
import { candidates, compareVersions, isRelative } from "./versions.ts";

interface Uploaded {
  readonly name: string;
  readonly version: string;
}

/** The raw manifest with the versions of releases that `latest` stands for. Leaves alone what it does not understand. */
export function withReleaseVersions(manifest: Tree, uploaded: readonly Uploaded[]): Tree {
  const releases = own(manifest, "releases");
  if (!Array.isArray(releases)) return manifest;
  return {
    ...manifest,
    releases: releases.map((entry: unknown) => {
      const version = isObject(entry) ? newest(entry, uploaded) : undefined;
      return isObject(entry) && version !== undefined ? { ...entry, version } : entry;
    }),
  };
}

function newest(entry: Tree, uploaded: readonly Uploaded[]): string | undefined {
  const [name, version] = [own(entry, "name"), own(entry, "version")];
  if (typeof version !== "string" || !isRelative(version)) return undefined;
  const versions = uploaded.filter((one) => one.name === name).map((one) => one.version);
  return [...candidates(version, versions)].sort(compareVersions).at(-1);
}
