import { fileDigest } from "@slipway/engine/stemcells/digest";
import type { BuiltRelease, BuiltResource } from "./built-release.ts";
import { ArchiveLost } from "./errors.ts";

/** The same release, whose archives are named by digests of another kind. */
export async function redigested(release: BuiltRelease, algorithm: "sha1" | "sha256"): Promise<BuiltRelease> {
  const again = async (one: BuiltResource): Promise<BuiltResource> => {
    const { name: what, fingerprint, file } = one;
    if (file === "") throw ArchiveLost({ what, fingerprint, why: "the release does not hold its archive" });
    const hex = await fileDigest(file, algorithm);
    return { ...one, digest: algorithm === "sha1" ? hex : `${algorithm}:${hex}` };
  };
  const all = async (resources: readonly BuiltResource[]) => {
    const done: BuiltResource[] = [];
    for (const resource of resources) done.push(await again(resource));
    return done;
  };
  const { license } = release;
  return {
    ...release,
    jobs: await all(release.jobs),
    packages: await all(release.packages),
    license: license === undefined ? undefined : await again(license),
  };
}
