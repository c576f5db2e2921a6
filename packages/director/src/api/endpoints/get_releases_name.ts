import type { CompiledPackage, KnownRelease } from "@slipway/engine/releases/model";
import { releaseContent, releaseQuery } from "@slipway/protocol/director/release";
import { compiledFrom } from "../../store/compiled-packages.ts";
import { listReleases, loadReleases } from "../../store/releases.ts";
import { param, queryString } from "../call.ts";
import { NoSuchRelease, NoSuchReleaseVersion } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Shows one version of a release, or without one all of them. */
export const getReleasesName = endpoint(
  { query: releaseQuery, reply: releaseContent },
  async (call, { db }) => {
    const name = param(call, "name");
    const [found] = await listReleases(db, { name });
    if (found === undefined) throw NoSuchRelease({ name });
    const version = queryString(call.query, "version");
    if (version === undefined) {
      const versions = found.versions.map((one) => one.version);
      return json(
        wholeOf(
          await loadReleases(
            db,
            versions.map((one) => ({ name, version: one })),
          ),
          versions,
        ),
      );
    }
    const [release] = await loadReleases(db, [{ name, version }]);
    if (release === undefined) throw NoSuchReleaseVersion({ name: `${name}/${version}` });
    const compiled = await compiledFrom(
      db,
      release.packages.map(({ id }) => id),
    );
    return json(inspected(release, compiled));
  },
);

const inspected = ({ jobs, packages }: KnownRelease, compiled: readonly CompiledPackage[]) => ({
  jobs: jobs.map(({ name, blobId, digest, fingerprint, job }) => ({
    name,
    blobstore_id: blobId,
    sha1: digest,
    fingerprint,
    consumes: job.consumes.map((link) => ({ name: link.name, type: link.type, optional: link.optional })),
    provides: job.provides.map((link) => ({
      name: link.name,
      type: link.type,
      properties: [...link.properties],
    })),
  })),
  packages: packages.map(({ id, name, source, fingerprint }) => ({
    name,
    blobstore_id: source?.blobId ?? null,
    sha1: source?.digest ?? null,
    fingerprint,
    compiled_packages: compiled
      .filter(({ packageId }) => packageId === id)
      .map(({ stemcellOs, stemcellVersion, digest, blobId }) => ({
        stemcell: `${stemcellOs}/${stemcellVersion}`,
        sha1: digest,
        blobstore_id: blobId,
      })),
  })),
});

const wholeOf = (releases: readonly KnownRelease[], versions: readonly string[]) => ({
  jobs: once(releases.flatMap(({ jobs }) => jobs)).map(({ name, version, blobId, digest, job }) => ({
    name,
    version,
    blobstore_id: blobId,
    sha1: digest,
    packages: [...job.packages],
  })),
  packages: once(releases.flatMap(({ packages }) => packages)).map(
    ({ name, version, source, dependencies }) => ({
      name,
      version,
      blobstore_id: source?.blobId ?? null,
      sha1: source?.digest ?? null,
      dependencies: [...dependencies],
    }),
  ),
  versions: [...versions],
});

const once = <T extends { readonly name: string; readonly version: string; readonly fingerprint: string }>(
  all: readonly T[],
): readonly T[] => [
  ...new Map(all.map((one) => [`${one.name}/${one.version}/${one.fingerprint}`, one])).values(),
];
