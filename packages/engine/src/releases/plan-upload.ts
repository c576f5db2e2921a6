import type { Release, ReleaseJob, ReleasePackage } from "@slipway/protocol/release/release-mf";
import type { BlobId } from "../blobs/blobs.ts";
import { isVersion } from "../manifest/versions.ts";
import { dependencyKeys } from "./dependency-key.ts";
import {
  OtherCommit,
  OtherDependencies,
  OtherFingerprint,
  PackageLeftOut,
  ReleaseVersionInvalid,
} from "./errors.ts";
import type { CompiledPackage, KnownPackage, KnownRelease } from "./model.ts";

/** A package of any release that has a fingerprint of those that come. */
export interface SamePackage extends KnownPackage {
  readonly release: string;
  readonly compiled: readonly CompiledPackage[];
}

export interface UploadInput {
  readonly release: Release;
  /** The same name and version, if it is there. */
  readonly there: KnownRelease | undefined;
  /** Jobs of the same release in any version, with the same name, version and fingerprint as some that come. */
  readonly jobs: readonly (ReleaseJob & { readonly blobId: BlobId })[];
  readonly packages: readonly SamePackage[];
  /** Returns true if the archive contains this package. */
  readonly holds: (name: string) => boolean;
  /** Returns true if a blob exists in the store. */
  readonly has: (id: BlobId) => boolean;
  /** Everything is taken from the archive. */
  readonly fix: boolean;
}

interface Content {
  readonly blobId: BlobId;
  readonly digest: string;
}

/** `archive`: to be stored from there. `same`: another package's, which it shares. Undefined: it has its own. */
export type Source = "archive" | { readonly same: Content } | undefined;

export interface JobUpload extends ReleaseJob {
  readonly known: boolean;
  /** The stored archive that the job keeps, with its own digest; undefined: the archive of the upload is stored. */
  readonly keeps: Content | undefined;
}

export interface PackageUpload extends ReleasePackage {
  readonly known: boolean;
  readonly source: Source;
  readonly compiled:
    | {
        readonly stemcellOs: string;
        readonly stemcellVersion: string;
        readonly dependencyKey: string;
        readonly source: Source;
      }
    | undefined;
}

export interface UploadPlan {
  readonly jobs: readonly JobUpload[];
  readonly packages: readonly PackageUpload[];
}

/** Decides which parts of a release are stored and which exist already. Rejects parts that contradict the existing version. */
export function planReleaseUpload(input: UploadInput): UploadPlan {
  const { release, there } = input;
  const { name, version, commitHash, uncommittedChanges } = release;
  if (!isVersion(version)) throw ReleaseVersionInvalid({ version });
  if (
    there !== undefined &&
    (there.commitHash !== commitHash || there.uncommittedChanges !== uncommittedChanges)
  )
    throw OtherCommit({
      name,
      version,
      commitHash: there.commitHash,
      uncommittedChanges: there.uncommittedChanges,
    });
  const keys = dependencyKeys(release.packages);
  mustAgree("package", release, there?.packages ?? [], release.packages);
  mustAgree("job", release, there?.jobs ?? [], release.jobs);
  return {
    packages: release.packages.map((one) => planPackage(one, keys.get(one.name) ?? "[]", input)),
    jobs: release.jobs.map((one) => planJob(one, input)),
  };
}

function mustAgree(
  kind: "job" | "package",
  { name, version }: Release,
  there: readonly { readonly name: string; readonly fingerprint: string }[],
  given: readonly { readonly name: string; readonly fingerprint: string }[],
): void {
  const known = new Map(there.map((one) => [one.name, one.fingerprint]));
  for (const one of given)
    if ((known.get(one.name) ?? one.fingerprint) !== one.fingerprint)
      throw OtherFingerprint({ kind, part: one.name, name, version });
}

function planJob(one: ReleaseJob, { jobs, has, fix }: UploadInput): JobUpload {
  const own = jobs.find((job) => sameAs(job, one));
  // Archives of one fingerprint differ whenever a release is built again: blob and digest belong together.
  const keeps =
    own !== undefined && !fix && has(own.blobId) ? { blobId: own.blobId, digest: own.digest } : undefined;
  return { ...one, known: own !== undefined, keeps };
}

function planPackage(one: ReleasePackage, dependencyKey: string, input: UploadInput): PackageUpload {
  const { release, packages, holds, has, fix } = input;
  const same = packages.filter(({ fingerprint }) => fingerprint === one.fingerprint);
  const own = same.find((each) => each.release === release.name && sameAs(each, one));
  const choose = (mine: Content | undefined, others: readonly (Content | undefined)[]): Source => {
    if (!fix && mine !== undefined && has(mine.blobId)) return undefined;
    const other = fix ? undefined : others.find((content) => content !== undefined && has(content.blobId));
    if (other !== undefined) return { same: { blobId: other.blobId, digest: other.digest } };
    if (!holds(one.name)) throw PackageLeftOut({ part: one.name });
    return "archive";
  };
  const known = own !== undefined;
  if (own !== undefined && sorted(own.dependencies) !== sorted(one.dependencies))
    throw OtherDependencies({ part: one.name });
  if (one.stemcell === undefined) {
    const source = choose(
      own?.source,
      same.map((each) => each.source),
    );
    return { ...one, known, source, compiled: undefined };
  }
  const { os: stemcellOs, version: stemcellVersion } = one.stemcell;
  const fits = (compiled: CompiledPackage) =>
    compiled.stemcellOs === stemcellOs &&
    compiled.stemcellVersion === stemcellVersion &&
    compiled.dependencyKey === dependencyKey;
  const source = choose(
    own?.compiled.find(fits),
    same.filter(({ name }) => name === one.name).map((each) => each.compiled.find(fits)),
  );
  return {
    ...one,
    known,
    source: undefined,
    compiled: { stemcellOs, stemcellVersion, dependencyKey, source },
  };
}

const sameAs = (a: ReleaseJob | KnownPackage, b: ReleaseJob): boolean =>
  a.name === b.name && a.version === b.version && a.fingerprint === b.fingerprint;

const sorted = (names: readonly string[]): string => [...new Set(names)].sort().join("\n");

/** `--rebase`: the next `+dev.N` of the same version. */
export function rebased(version: string, known: readonly string[]): string {
  const base = version.split("+", 1)[0] ?? version;
  const numbers = known.map((one) => {
    const found = /^(.*)\+dev\.(\d{1,15})$/.exec(one);
    return found !== null && found[1] === base ? Number(found[2]) : 0;
  });
  return `${base}+dev.${numbers.reduce((most, one) => Math.max(most, one), 0) + 1}`;
}
