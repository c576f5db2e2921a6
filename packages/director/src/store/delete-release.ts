import { ReleaseInUse, ReleaseVersionInUse } from "./errors.ts";
import { inTransaction } from "./open.ts";
import { releasesLock } from "./save-release.ts";
import type { Db } from "./schema.ts";

interface NameAndVersion {
  readonly name: string;
  readonly version: string;
}

/** Everything that was deleted, in the order in which it was uploaded. */
export interface DeletedRelease {
  readonly packages: readonly NameAndVersion[];
  readonly jobs: readonly NameAndVersion[];
  readonly versions: readonly NameAndVersion[];
}

/**
 * Deletes one version of a release, with the jobs and packages that no other version has; without a version the whole release.
 * Refused while a deployment uses it. Its blobs are left to the sweep.
 */
export function deleteReleaseVersions(db: Db, name: string, version?: string): Promise<DeletedRelease> {
  return inTransaction(db, async (tx) => {
    await releasesLock(tx);
    const versions = await tx
      .selectFrom("release_versions as v")
      .innerJoin("releases as r", "r.id", "v.release_id")
      .select(["v.id", "r.name", "v.version"])
      .where("r.name", "=", name)
      .$if(version !== undefined, (query) => query.where("v.version", "=", version ?? ""))
      .orderBy("v.id")
      .forUpdate("v")
      .execute();
    const ids = versions.map(({ id }) => id);
    await mustBeUnused(tx, ids, name, version);
    if (ids.length > 0) await tx.deleteFrom("release_versions").where("id", "in", ids).execute();
    const { id: release } = (await tx
      .selectFrom("releases")
      .select("id")
      .where("name", "=", name)
      .executeTakeFirst()) ?? { id: -1 };
    const jobs = await tx
      .deleteFrom("jobs")
      .where("release_id", "=", release)
      .where("id", "not in", (query) => query.selectFrom("release_version_jobs").select("job_id"))
      .returning(["id", "name", "version"])
      .execute();
    const packages = await tx
      .deleteFrom("packages")
      .where("release_id", "=", release)
      .where("id", "not in", (query) => query.selectFrom("release_version_packages").select("package_id"))
      .returning(["id", "name", "version"])
      .execute();
    await tx
      .deleteFrom("releases")
      .where("id", "=", release)
      .where("id", "not in", (query) => query.selectFrom("release_versions").select("release_id"))
      .execute();
    const byId = <T extends { readonly id: number }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => a.id - b.id);
    return { packages: byId(packages), jobs: byId(jobs), versions };
  });
}

async function mustBeUnused(
  tx: Db,
  ids: readonly number[],
  name: string,
  version: string | undefined,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx
    .selectFrom("deployment_release_versions as dv")
    .innerJoin("deployments as d", "d.id", "dv.deployment_id")
    .select("d.name")
    .distinct()
    .where("dv.release_version_id", "in", ids)
    .orderBy("d.name")
    .execute();
  if (rows.length === 0) return;
  const deployments = rows.map((row) => row.name);
  if (version === undefined) throw ReleaseInUse({ name, deployments });
  throw ReleaseVersionInUse({ name, version, deployments });
}
