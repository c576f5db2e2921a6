import type { BlobId } from "@slipway/engine/blobs/blobs";
import { compareVersions } from "@slipway/engine/manifest/versions";
import type { KnownJob, KnownPackage, KnownRelease } from "@slipway/engine/releases/model";
import { readJobManifest } from "@slipway/protocol/release/job-mf";
import { normalVersion } from "@slipway/protocol/release/release-mf";
import { sql } from "kysely";
import { JobUnreadable, ReleaseGone } from "./errors.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/** One version in the list of releases. */
export interface ReleaseVersionSummary {
  readonly id: number;
  readonly version: string;
  readonly commitHash: string;
  readonly uncommittedChanges: boolean;
  readonly jobs: readonly string[];
  /** Names of the deployments that use it. */
  readonly deployments: readonly string[];
}

export interface ReleaseSummary {
  readonly name: string;
  /** The oldest first. */
  readonly versions: readonly ReleaseVersionSummary[];
}

interface JobRow extends Omit<KnownJob, "blobId" | "job"> {
  readonly blob_id: BlobId;
  readonly document: unknown;
}

interface PackageRow extends Omit<KnownPackage, "source"> {
  readonly digest: string | null;
  readonly blob_id: BlobId | null;
}

interface ReleaseRow {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly commit_hash: string;
  readonly uncommitted_changes: boolean;
  readonly jobs: readonly JobRow[] | null;
  readonly packages: readonly PackageRow[] | null;
}

/** Loads those of the releases that exist, whole. Versions may be spelled as old release tools did. */
export async function loadReleases(
  db: Db,
  wanted: readonly { readonly name: string; readonly version: string }[],
): Promise<KnownRelease[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ name }) => name);
  const versions = wanted.map(({ version }) => normalVersion(version));
  const { rows } = await sql<ReleaseRow>`
    select v.id, r.name, v.version, v.commit_hash, v.uncommitted_changes,
      (select json_agg(x) from (
        select j.name, j.version, j.fingerprint, j.digest, j.blob_id, j.document
        from release_version_jobs vj join jobs j on j.id = vj.job_id
        where vj.release_version_id = v.id order by j.name) x) as jobs,
      (select json_agg(x) from (
        select p.id, p.name, p.version, p.fingerprint, p.dependencies, p.digest, p.blob_id
        from release_version_packages vp join packages p on p.id = vp.package_id
        where vp.release_version_id = v.id order by p.name) x) as packages
    from release_versions v join releases r on r.id = v.release_id
    where (r.name, v.version) in (select * from unnest(${names}::text[], ${versions}::text[]))
    order by r.name, v.id`.execute(db);
  return rows.map(toRelease);
}

const toRelease = (row: ReleaseRow): KnownRelease => ({
  id: row.id,
  name: row.name,
  version: row.version,
  commitHash: row.commit_hash,
  uncommittedChanges: row.uncommitted_changes,
  jobs: (row.jobs ?? []).map(toJob),
  packages: (row.packages ?? []).map(toPackage),
});

function toJob({ blob_id, document, ...row }: JobRow): KnownJob {
  const read = readJobManifest(document);
  if (!read.ok) throw JobUnreadable({ job: row.name, problems: read.problems });
  return { ...row, blobId: blob_id, job: read.job };
}

function toPackage({ digest, blob_id, ...row }: PackageRow): KnownPackage {
  const source = digest === null || blob_id === null ? undefined : { blobId: blob_id, digest };
  return { ...row, source };
}

/** Lists releases by name. */
export async function listReleases(
  db: Db,
  filter: { readonly name?: string | undefined } = {},
): Promise<ReleaseSummary[]> {
  const { rows } = await sql<{ name: string; versions: readonly ReleaseVersionSummary[] | null }>`
    select r.name, (select json_agg(x) from (
      select v.id, v.version, v.commit_hash as "commitHash", v.uncommitted_changes as "uncommittedChanges",
        coalesce((select json_agg(j.name order by j.name) from release_version_jobs vj
          join jobs j on j.id = vj.job_id where vj.release_version_id = v.id), '[]') as jobs,
        coalesce((select json_agg(d.name order by d.name) from deployment_release_versions dv
          join deployments d on d.id = dv.deployment_id where dv.release_version_id = v.id), '[]') as deployments
      from release_versions v where v.release_id = r.id) x) as versions
    from releases r
    where ${filter.name === undefined ? sql`true` : sql`r.name = ${filter.name}`}
    order by r.name`.execute(db);
  return rows.map(({ name, versions }) => ({
    name,
    versions: [...(versions ?? [])].sort((a, b) => compareVersions(a.version, b.version)),
  }));
}

/** Returns the name and version of all releases. */
export async function releaseVersions(db: Db): Promise<{ name: string; version: string }[]> {
  return await db
    .selectFrom("release_versions as v")
    .innerJoin("releases as r", "r.id", "v.release_id")
    .select(["r.name", "v.version"])
    .execute();
}

/** Returns the versions that `latest` chooses among, the oldest first. */
export async function versionsOf(db: Db, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom("release_versions as v")
    .innerJoin("releases as r", "r.id", "v.release_id")
    .select("v.version")
    .where("r.name", "=", name)
    .execute();
  return rows.map(({ version }) => version).sort(compareVersions);
}

export type ChosenRelease = Pick<KnownRelease, "id" | "name" | "version">;

/**
 * Marks releases as in use from when a deploy has chosen them, beside those of the last success. Refused for one that was deleted
 * since.
 */
export function useReleases(db: Db, deploymentId: number, chosen: readonly ChosenRelease[]): Promise<void> {
  const ids = [...new Set(chosen.map(({ id }) => id))];
  if (ids.length === 0) return Promise.resolve();
  return inTransaction(db, async (tx) => {
    // Locked until the end of the transaction: a task that deletes one of them sees that it is used, or was first.
    const rows = await tx
      .selectFrom("release_versions")
      .select("id")
      .where("id", "in", ids)
      .orderBy("id")
      .forShare()
      .execute();
    const there = new Set(rows.map(({ id }) => id));
    const gone = chosen.find(({ id }) => !there.has(id));
    if (gone !== undefined) throw ReleaseGone({ name: gone.name, version: gone.version });
    await tx
      .insertInto("deployment_release_versions")
      .values(ids.map((id) => ({ deployment_id: deploymentId, release_version_id: id })))
      .onConflict((on) => on.doNothing())
      .execute();
  });
}
