import type { StemcellRecord } from "@slipway/engine/model/records";
import type { StemcellCid } from "@slipway/protocol/ids";
import { sql } from "kysely";
import { type Claim, type ClaimColumns, claimOf } from "./claims.ts";
import { StemcellInUse } from "./errors.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

export interface UploadedStemcell extends StemcellRecord {
  readonly digest: string;
  /** The task whose upload made it, as far as that is known. */
  readonly taskId: number | null;
  /** Names of the deployments that use it. */
  readonly deployments: readonly string[];
  /** Set from before the CPI is asked to delete the stemcell until the outcome is known. */
  readonly claim: Claim | undefined;
}

interface StemcellRow extends ClaimColumns {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly operating_system: string;
  readonly cid: StemcellCid;
  readonly digest: string;
  readonly cpi: string;
  readonly api_version: number;
  readonly task_id: number | null;
  readonly deployments: string[] | null;
}

const toStemcell = (row: StemcellRow): UploadedStemcell => ({
  id: row.id,
  name: row.name,
  version: row.version,
  operatingSystem: row.operating_system,
  cid: row.cid,
  cpi: row.cpi,
  apiVersion: row.api_version,
  digest: row.digest,
  taskId: row.task_id,
  deployments: row.deployments ?? [],
  claim: claimOf(row),
});

/** Lists stemcells by name, version and CPI. */
export async function listStemcells(
  db: Db,
  filter: { readonly name?: string; readonly version?: string; readonly cpi?: string } = {},
): Promise<UploadedStemcell[]> {
  const { rows } = await sql<StemcellRow>`
    select s.id, s.name, s.version, s.operating_system, s.cid, s.digest, s.cpi, s.api_version, s.task_id,
      s.deleting_task, s.deleting_since,
      (select json_agg(d.name order by d.name) from deployment_stemcells ds
        join deployments d on d.id = ds.deployment_id where ds.stemcell_id = s.id) as deployments
    from stemcells s
    where ${filter.name === undefined ? sql`true` : sql`s.name = ${filter.name}`}
      and ${filter.version === undefined ? sql`true` : sql`s.version = ${filter.version}`}
      and ${filter.cpi === undefined ? sql`true` : sql`s.cpi = ${filter.cpi}`}
    order by s.name, s.version, s.cpi`.execute(db);
  return rows.map(toStemcell);
}

/** The stemcells that VMs can be made from: those that no task deletes. */
export const usableStemcells = async (db: Db): Promise<UploadedStemcell[]> =>
  (await listStemcells(db)).filter(({ claim }) => claim === undefined);

/**
 * Claims a stemcell that no deployment uses for the task that deletes it; from then on no deployment can use it, and an
 * upload of it is needed. `again`: an earlier deletion had an unknown outcome. Undefined: it is not recorded any more.
 */
export function claimStemcell(
  db: Db,
  id: number,
  taskId: number,
): Promise<{ readonly again: boolean } | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom("stemcells")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    // After the row is locked: `useStemcells` has committed by now, or waits.
    await mustBeUnused(tx, id);
    await tx
      .updateTable("stemcells")
      .set({ deleting_task: taskId, deleting_since: row.deleting_since ?? sql<Date>`now()` })
      .where("id", "=", id)
      .execute();
    await forgetUploads(tx, row);
    return { again: claimOf(row) !== undefined };
  });
}

/** Gives the claim up: the stemcell was not deleted. */
export function releaseStemcell(
  db: Db,
  stemcell: Pick<UploadedStemcell, "id" | "name" | "version" | "cpi">,
  taskId: number,
): Promise<void> {
  const { id, name, version, cpi } = stemcell;
  return inTransaction(db, async (tx) => {
    await tx
      .updateTable("stemcells")
      .set({ deleting_task: null, deleting_since: null })
      .where("id", "=", id)
      .where("deleting_task", "=", taskId)
      .execute();
    await noteUpload(tx, { name, version, cpi });
  });
}

/** Saves a stemcell, one per name, version and CPI: uploaded again with `--fix`, it gets its new cid. Notes the upload, too. */
export function saveStemcell(
  db: Db,
  stemcell: Omit<StemcellRecord, "id"> & { readonly digest: string },
): Promise<StemcellRecord> {
  const { name, version, cpi } = stemcell;
  const values = {
    operating_system: stemcell.operatingSystem,
    cid: stemcell.cid,
    digest: stemcell.digest,
    api_version: stemcell.apiVersion,
  };
  return inTransaction(db, async (tx) => {
    const { id } = await tx
      .insertInto("stemcells")
      .values({ name, version, cpi, ...values })
      .onConflict((on) => on.columns(["name", "version", "cpi"]).doUpdateSet(values))
      .returning("id")
      .executeTakeFirstOrThrow();
    await noteUpload(tx, { name, version, cpi });
    const { digest: _, ...record } = stemcell;
    return { ...record, id };
  });
}

/** Notes an upload, also for a CPI that skipped the stemcell's format: it need not be uploaded again for it. */
export async function noteUpload(
  db: Db,
  upload: { readonly name: string; readonly version: string; readonly cpi: string },
): Promise<void> {
  await db
    .insertInto("stemcell_uploads")
    .values(upload)
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Makes an upload needed again, also for CPIs that skipped the stemcell: as upstream, whichever CPI it is deleted from. */
export async function forgetUploads(
  db: Db,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<void> {
  await db
    .deleteFrom("stemcell_uploads")
    .where((is) => is.and({ name, version }))
    .execute();
}

/** The CPIs that have been given this stemcell. */
export async function uploadedTo(db: Db, name: string, version: string): Promise<string[]> {
  const rows = await db
    .selectFrom("stemcell_uploads")
    .select("cpi")
    .where("name", "=", name)
    .where("version", "=", version)
    .orderBy("cpi")
    .execute();
  return rows.map((row) => row.cpi);
}

export async function mustBeUnused(db: Db, id: number): Promise<void> {
  const rows = await db
    .selectFrom("deployment_stemcells as ds")
    .innerJoin("deployments as d", "d.id", "ds.deployment_id")
    .innerJoin("stemcells as s", "s.id", "ds.stemcell_id")
    .select(["d.name as deployment", "s.name", "s.version"])
    .where("ds.stemcell_id", "=", id)
    .orderBy("d.name")
    .execute();
  const [first] = rows;
  if (first === undefined) return;
  const { name, version } = first;
  throw StemcellInUse({ name, version, deployments: rows.map((row) => row.deployment) });
}
