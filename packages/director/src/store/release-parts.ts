import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { SamePackage } from "@slipway/engine/releases/plan-upload";
import type { ReleaseJob } from "@slipway/protocol/release/release-mf";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { compiledFrom } from "./compiled-packages.ts";
import type { Db } from "./schema.ts";

/** Packages of all releases with one of these fingerprints, the oldest first. */
export async function packagesLike(db: Db, fingerprints: readonly string[]): Promise<SamePackage[]> {
  const rows = await db
    .selectFrom("packages as p")
    .innerJoin("releases as r", "r.id", "p.release_id")
    .select([
      "p.id",
      "r.name as release",
      "p.name",
      "p.version",
      "p.fingerprint",
      "p.dependencies",
      "p.digest",
      "p.blob_id",
    ])
    .where((row) => row("p.fingerprint", "=", row.fn.any(row.val([...fingerprints]))))
    .orderBy("p.id")
    .execute();
  const compiled = await compiledFrom(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ digest, blob_id, ...row }) => ({
    ...row,
    source: digest === null || blob_id === null ? undefined : { blobId: blob_id, digest },
    compiled: compiled.filter(({ packageId }) => packageId === row.id),
  }));
}

/** Jobs of a release, of any version, with one of these fingerprints. */
export async function jobsLike(
  db: Db,
  release: string,
  fingerprints: readonly string[],
): Promise<(ReleaseJob & { readonly blobId: BlobId })[]> {
  return await db
    .selectFrom("jobs as j")
    .innerJoin("releases as r", "r.id", "j.release_id")
    .select(["j.name", "j.version", "j.fingerprint", "j.digest", "j.blob_id as blobId"])
    .where("r.name", "=", release)
    .where((row) => row("j.fingerprint", "=", row.fn.any(row.val([...fingerprints]))))
    .execute();
}

/** The spec of a job with this fingerprint, of any version of the release. */
export async function jobOf(
  db: Db,
  {
    release,
    name,
    fingerprint,
  }: { readonly release: string; readonly name: string; readonly fingerprint: string },
): Promise<{ readonly spec: JsonObject } | undefined> {
  return await db
    .selectFrom("jobs as j")
    .innerJoin("releases as r", "r.id", "j.release_id")
    .select("j.document as spec")
    .where("r.name", "=", release)
    .where("j.name", "=", name)
    .where("j.fingerprint", "=", fingerprint)
    .orderBy("j.id")
    .limit(1)
    .executeTakeFirst();
}

/** Returns every blob that a release, or what was compiled of one, needs. */
export async function neededBlobs(db: Db): Promise<ReadonlySet<BlobId>> {
  const rows = await db
    .selectFrom("packages")
    .select("blob_id")
    .where("blob_id", "is not", null)
    .union(db.selectFrom("jobs").select("blob_id"))
    .union(db.selectFrom("compiled_packages").select("blob_id"))
    .execute();
  return new Set(rows.flatMap(({ blob_id }) => (blob_id === null ? [] : [blob_id])));
}
