import type { TarInput } from "@slipway/kernel/tar/write";
import type { BlobId } from "../blobs/blobs.ts";
import { writeYaml } from "../documents/yaml.ts";
import type { KnownJob, KnownPackage, KnownRelease } from "./model.ts";

/** A package of a release, as it was compiled. */
export interface PackedPackage {
  readonly package: KnownPackage;
  readonly digest: string;
  readonly blobId: BlobId;
}

export interface PackedRelease {
  readonly release: KnownRelease;
  readonly jobs: readonly KnownJob[];
  readonly packages: readonly PackedPackage[];
  readonly stemcell: { readonly os: string; readonly version: string };
}

/** Returns the entries of a compiled release, in upstream's order. `open` opens the content of a blob. */
export function compiledArchive(
  packed: PackedRelease,
  open: (id: BlobId) => ReturnType<Extract<TarInput, { readonly type: "stream" }>["open"]>,
): readonly TarInput[] {
  const { jobs, packages } = packed;
  const directory = (name: string): TarInput => ({ type: "directory", name: `./${name}`, mode: 0o755 });
  const archive = (folder: string, name: string, id: BlobId): TarInput => ({
    ...{ type: "stream", name: `./${folder}/${name}.tgz`, mode: 0o644, open: () => open(id) },
  });
  return [
    { type: "text", name: "./release.MF", mode: 0o644, text: manifestOf(packed) },
    directory("jobs"),
    ...jobs.map(({ name, blobId }) => archive("jobs", name, blobId)),
    directory("compiled_packages"),
    ...packages.map((one) => archive("compiled_packages", one.package.name, one.blobId)),
  ];
}

function manifestOf({ release, jobs, packages, stemcell }: PackedRelease): string {
  return writeYaml({
    compiled_packages: packages.map(({ package: { name, version, fingerprint, dependencies }, digest }) => ({
      ...{ name, version, fingerprint, sha1: digest },
      stemcell: `${stemcell.os}/${stemcell.version}`,
      dependencies: [...dependencies],
    })),
    jobs: jobs.map(({ name, version, fingerprint, digest }) => ({
      name,
      version,
      fingerprint,
      sha1: digest,
    })),
    commit_hash: release.commitHash,
    uncommitted_changes: release.uncommittedChanges,
    name: release.name,
    version: release.version,
  });
}
