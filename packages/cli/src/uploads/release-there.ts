import type { DirectorApi } from "../api/director-api.ts";
import { listReleases, readRelease } from "./list-releases.ts";

/** Whether the Director has all of a release: its sources, or with a stemcell what is compiled for exactly that. */
export async function releaseThere(
  api: DirectorApi,
  name: string,
  version: string,
  stemcell: string | undefined,
): Promise<boolean> {
  if (!(await listReleases(api)).some((one) => one.name === name && one.version === version)) return false;
  const { packages } = await readRelease(api, name, version);
  return packages.every(({ blobstore_id, compiled_packages = [] }) =>
    stemcell === undefined
      ? Boolean(blobstore_id)
      : compiled_packages.some((one) => one.stemcell === stemcell),
  );
}
