import type { Job } from "@slipway/protocol/release/job-mf";
import type { BlobId } from "../blobs/blobs.ts";

/** A job of an uploaded release: its archive is a blob, its job.MF is read already. */
export interface KnownJob {
  readonly name: string;
  readonly version: string;
  readonly fingerprint: string;
  readonly digest: string;
  readonly blobId: BlobId;
  readonly job: Job;
}

/** A package of an uploaded release. */
export interface KnownPackage {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly fingerprint: string;
  /** Its source; undefined where only compiled ones were uploaded. */
  readonly source: { readonly blobId: BlobId; readonly digest: string } | undefined;
  /** Names of packages of the same release version. */
  readonly dependencies: readonly string[];
}

/** One version of a release, as the Director knows it. */
export interface KnownRelease {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly commitHash: string;
  readonly uncommittedChanges: boolean;
  readonly jobs: readonly KnownJob[];
  readonly packages: readonly KnownPackage[];
}

/** Key of a compiled package: packages with the same key have the same bytes. */
export interface CompileKey {
  readonly packageId: number;
  readonly stemcellOs: string;
  readonly stemcellVersion: string;
  /** Key of the packages it was compiled with: see `dependency-key.ts`. */
  readonly dependencyKey: string;
}

export interface CompiledPackage extends CompileKey {
  /** From 1: sets those of one package on one stemcell apart. */
  readonly build: number;
  readonly blobId: BlobId;
  readonly digest: string;
}
