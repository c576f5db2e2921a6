import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { KnownJob } from "@slipway/engine/releases/model";
import { jobDocument } from "@slipway/protocol/release/job-mf";
import { sql } from "kysely";
import { findCompiled, saveCompiled } from "./compiled-packages.ts";
import { BlobWithoutOwner } from "./errors.ts";
import { inTransaction } from "./open.ts";
import { neededBlobs } from "./release-parts.ts";
import type { Db } from "./schema.ts";

interface Content {
  readonly blobId: BlobId;
  readonly digest: string;
}

export interface PackageToSave {
  readonly name: string;
  readonly version: string;
  readonly fingerprint: string;
  readonly dependencies: readonly string[];
  /** Source of the package; without one, the existing one stays. */
  readonly source: Content | undefined;
  /** True if earlier compiled packages are not to be trusted. */
  readonly recompile: boolean;
  readonly compiled:
    | (Content & {
        readonly stemcellOs: string;
        readonly stemcellVersion: string;
        readonly dependencyKey: string;
      })
    | undefined;
}

export interface ReleaseToSave {
  readonly name: string;
  readonly version: string;
  readonly commitHash: string;
  readonly uncommittedChanges: boolean;
  readonly jobs: readonly KnownJob[];
  readonly packages: readonly PackageToSave[];
  /** Blobs that packages have already, and that these are given too. */
  readonly shared: readonly BlobId[];
}

/** Parameters of one statement are counted. */
const AT_ONCE = 500;

/** Saves a release, all of it at once. Existing parts get these contents. Returns the id of its version. */
export function saveRelease(db: Db, release: ReleaseToSave): Promise<number> {
  return inTransaction(db, async (tx) => {
    await releasesLock(tx);
    await mustBeOwned(tx, release.shared);
    const { name, version, commitHash: commit_hash, uncommittedChanges: uncommitted_changes } = release;
    const { id: releaseId } = await tx
      .insertInto("releases")
      .values({ name })
      .onConflict((on) => on.column("name").doUpdateSet({ name }))
      .returning("id")
      .executeTakeFirstOrThrow();
    const { id } = await tx
      .insertInto("release_versions")
      .values({ release_id: releaseId, version, commit_hash, uncommitted_changes })
      .onConflict((on) =>
        on.columns(["release_id", "version"]).doUpdateSet({ commit_hash, uncommitted_changes }),
      )
      .returning("id")
      .executeTakeFirstOrThrow();
    for (const some of inParts(release.jobs)) await saveJobs(tx, releaseId, id, some);
    for (const some of inParts(release.packages)) await savePackages(tx, releaseId, id, some);
    return id;
  });
}

const LOCK = 732_046;

/** Locks releases until the end of the transaction, so that no other saves or deletes them: a shared blob keeps an owner. */
export const releasesLock = (tx: Db) => sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);

async function mustBeOwned(tx: Db, shared: readonly BlobId[]): Promise<void> {
  if (shared.length === 0) return;
  const owned = await neededBlobs(tx);
  for (const id of shared) if (!owned.has(id)) throw BlobWithoutOwner({ id });
}

async function saveJobs(tx: Db, releaseId: number, id: number, jobs: readonly KnownJob[]): Promise<void> {
  const rows = await tx
    .insertInto("jobs")
    .values(
      jobs.map(({ name, version, fingerprint, digest, blobId, job }) => ({
        release_id: releaseId,
        name,
        version,
        fingerprint,
        digest,
        blob_id: blobId,
        document: JSON.stringify(jobDocument(job)),
      })),
    )
    .onConflict((on) =>
      on.columns(["release_id", "name", "version", "fingerprint"]).doUpdateSet((row) => ({
        digest: row.ref("excluded.digest"),
        blob_id: row.ref("excluded.blob_id"),
        // Read from the archive that stays.
        document: sql`case when jobs.blob_id = excluded.blob_id then jobs.document else excluded.document end`,
      })),
    )
    .returning("id")
    .execute();
  await tx
    .insertInto("release_version_jobs")
    .values(rows.map((row) => ({ release_version_id: id, job_id: row.id })))
    .onConflict((on) => on.doNothing())
    .execute();
}

async function savePackages(
  tx: Db,
  releaseId: number,
  id: number,
  packages: readonly PackageToSave[],
): Promise<void> {
  const rows = await tx
    .insertInto("packages")
    .values(
      packages.map(({ name, version, fingerprint, dependencies, source }) => ({
        release_id: releaseId,
        name,
        version,
        fingerprint,
        dependencies: JSON.stringify(dependencies),
        digest: source?.digest ?? null,
        blob_id: source?.blobId ?? null,
      })),
    )
    .onConflict((on) =>
      on.columns(["release_id", "name", "version", "fingerprint"]).doUpdateSet({
        dependencies: sql`excluded.dependencies`,
        digest: sql`coalesce(excluded.digest, packages.digest)`,
        blob_id: sql`coalesce(excluded.blob_id, packages.blob_id)`,
      }),
    )
    .returning(["id", "name"])
    .execute();
  await tx
    .insertInto("release_version_packages")
    .values(rows.map((row) => ({ release_version_id: id, package_id: row.id })))
    .onConflict((on) => on.doNothing())
    .execute();
  const idOf = new Map(rows.map((row) => [row.name, row.id]));
  const again = packages.flatMap(({ name, recompile }) => (recompile ? (idOf.get(name) ?? []) : []));
  if (again.length > 0) await tx.deleteFrom("compiled_packages").where("package_id", "in", again).execute();
  for (const { name, compiled } of packages) {
    const packageId = idOf.get(name);
    if (compiled === undefined || packageId === undefined) continue;
    const { blobId, digest, ...key } = compiled;
    await putCompiled(tx, { packageId, ...key }, { blobId, digest });
  }
}

async function putCompiled(tx: Db, key: Parameters<typeof saveCompiled>[1], made: Content): Promise<void> {
  const [there] = await findCompiled(tx, [key]);
  if (there === undefined) {
    await saveCompiled(tx, key, made);
    return;
  }
  await tx
    .updateTable("compiled_packages")
    .set({ blob_id: made.blobId, digest: made.digest })
    .where("package_id", "=", key.packageId)
    .where("stemcell_os", "=", key.stemcellOs)
    .where("stemcell_version", "=", key.stemcellVersion)
    .where("dependency_key", "=", key.dependencyKey)
    .execute();
}

function* inParts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}
