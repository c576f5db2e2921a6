import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Id, Json, TimeNow } from "./columns.ts";

/** The tables of releases, their jobs and packages, and the blobs they have given up. */
export interface ReleaseTables {
  releases: { id: Id; name: string };
  release_versions: {
    id: Id;
    release_id: number;
    version: string;
    commit_hash: string;
    uncommitted_changes: boolean;
    created_at: TimeNow;
  };
  jobs: {
    id: Id;
    release_id: number;
    name: string;
    version: string;
    fingerprint: string;
    digest: string;
    blob_id: BlobId;
    document: Json<JsonObject>;
  };
  packages: {
    id: Id;
    release_id: number;
    name: string;
    version: string;
    fingerprint: string;
    /** Names of packages of the same release version. */
    dependencies: Json<string[]>;
    digest: string | null;
    blob_id: BlobId | null;
  };
  release_version_jobs: { release_version_id: number; job_id: number };
  release_version_packages: { release_version_id: number; package_id: number };
  compiled_packages: {
    id: Id;
    package_id: number;
    stemcell_os: string;
    stemcell_version: string;
    dependency_key: string;
    build: number;
    digest: string;
    blob_id: BlobId;
    created_at: TimeNow;
  };
  deployment_release_versions: { deployment_id: number; release_version_id: number };
  retired_blobs: { blob_id: BlobId; readers: number[]; retired_at: TimeNow };
}
