import { BadWrite } from "@slipway/engine/journal/errors";
import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { DiskInUse } from "./errors.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

export interface OrphanDisk {
  readonly cid: DiskCid;
  readonly size: number;
  readonly cloudProperties: JsonObject;
  readonly cpi: string;
  readonly az: string | null;
  readonly deployment: string;
  /** `group/uuid`. */
  readonly instance: string;
  readonly orphanedAt: number;
}

const orphans = (db: Db) =>
  db
    .selectFrom("orphan_disks")
    .select([
      "cid",
      "size",
      "cloud_properties",
      "cpi",
      "az",
      "deployment_name",
      "instance_name",
      "orphaned_at",
    ]);
type OrphanRow = Awaited<ReturnType<ReturnType<typeof orphans>["executeTakeFirstOrThrow"]>>;

const toOrphan = (row: OrphanRow): OrphanDisk => ({
  cid: row.cid as DiskCid,
  size: row.size,
  cloudProperties: row.cloud_properties,
  cpi: row.cpi,
  az: row.az,
  deployment: row.deployment_name,
  instance: row.instance_name,
  orphanedAt: row.orphaned_at.getTime(),
});

/** Newest first. `before` keeps those that were orphaned earlier, ms since 1970. */
export async function listOrphanDisks(db: Db, before?: number): Promise<OrphanDisk[]> {
  const all = orphans(db).orderBy("orphaned_at", "desc").orderBy("id", "desc");
  const rows = await (before === undefined ? all : all.where("orphaned_at", "<", new Date(before))).execute();
  return rows.map(toOrphan);
}

export async function findOrphanDisk(db: Db, cid: string): Promise<OrphanDisk | undefined> {
  const row = await orphans(db).where("cid", "=", cid).executeTakeFirst();
  return row && toOrphan(row);
}

/** The disk is gone from the cloud. */
export async function removeOrphanDisk(db: Db, cid: DiskCid): Promise<void> {
  await db.deleteFrom("orphan_disks").where("cid", "=", cid).execute();
}

export interface DiskHolder {
  readonly deployment: string;
  /** `group/uuid`. */
  readonly instance: string;
  readonly uuid: string;
  readonly active: boolean;
}

/** The instance a live disk belongs to. */
export async function diskHolder(db: Db, cid: string): Promise<DiskHolder | undefined> {
  const { rows } = await sql<DiskHolder>`
    select d.name as deployment, i.group_name || '/' || i.uuid as instance, i.uuid, p.active
    from persistent_disks p join instances i on i.id = p.instance_id join deployments d on d.id = i.deployment_id
    where p.cid = ${cid}`.execute(db);
  return rows[0];
}

/**
 * Gives a disk of the orphan list, or one that nobody knew, to an instance as its active disk; the one it had goes to
 * the orphan list, and is returned. All at once, so that no disk is ever in two places or in none.
 */
export function giveDisk(
  db: Db,
  given: {
    readonly instance: string;
    readonly cid: DiskCid;
    /** Of a disk nobody knew; for an orphan they replace what was recorded. */
    readonly properties?: { readonly size: number; readonly cloudProperties: JsonObject } | undefined;
    readonly cpi: string;
  },
): Promise<DiskCid | null> {
  return inTransaction(db, async (tx) => {
    const { instance, cid, properties, cpi } = given;
    const holder = await diskHolder(tx, cid);
    if (holder?.uuid === instance && holder.active) return null;
    if (holder !== undefined)
      throw DiskInUse({ cid, instance: holder.instance, deployment: holder.deployment });
    const { rows } = await sql<{ id: number; active: DiskCid | null }>`
      select i.id, (select cid from persistent_disks where instance_id = i.id and active and name = '') as active
      from instances i where i.uuid = ${instance} for update of i`.execute(tx);
    const [target] = rows;
    if (target === undefined) throw BadWrite({ what: `there is no instance ${instance} to give a disk to` });
    const { active } = target;
    if (active !== null)
      await sql`
        with gone as (delete from persistent_disks where cid = ${active} returning *)
        insert into orphan_disks (cid, size, cloud_properties, cpi, az, deployment_name, instance_name)
        select g.cid, g.size, g.cloud_properties, g.cpi, i.az, d.name, i.group_name || '/' || i.uuid
        from gone g join instances i on i.id = g.instance_id
          join deployments d on d.id = i.deployment_id`.execute(tx);
    const orphan = await tx
      .deleteFrom("orphan_disks")
      .where("cid", "=", cid)
      .returningAll()
      .executeTakeFirst();
    await tx
      .insertInto("persistent_disks")
      .values({
        instance_id: target.id,
        cid,
        size: properties?.size ?? orphan?.size ?? 1,
        cloud_properties: JSON.stringify(properties?.cloudProperties ?? orphan?.cloud_properties ?? {}),
        cpi: orphan?.cpi ?? cpi,
        active: true,
      })
      .execute();
    return active;
  });
}

/** The cloud has said that it is gone: the one reason to drop a disk's record and not keep it among the orphans. */
export async function forgetDisk(db: Db, cid: DiskCid): Promise<void> {
  await db.deleteFrom("persistent_disks").where("cid", "=", cid).execute();
}
