import { compareVersions } from "@slipway/engine/manifest/versions";
import {
  type Release,
  type ReleaseContent,
  release,
  releaseContent,
} from "@slipway/protocol/director/release";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";

export type ListedRelease = Release["release_versions"][number] & { readonly name: string };

/** Lists releases by name, the newest version first. */
export async function listReleases(api: DirectorApi): Promise<readonly ListedRelease[]> {
  const all = await api.json({ method: "GET", path: "/releases" }, v.array(release));
  return all
    .flatMap(({ name, release_versions }) => release_versions.map((one) => ({ ...one, name })))
    .sort((a, b) => (a.name === b.name ? compareVersions(b.version, a.version) : a.name < b.name ? -1 : 1));
}

/** Returns the content of one version of a release. */
export const readRelease = (api: DirectorApi, name: string, version: string): Promise<ReleaseContent> =>
  api.json({ method: "GET", path: `/releases/${pathSegment(name)}`, query: { version } }, releaseContent);
