import { BadWrite } from "@slipway/engine/journal/errors";
import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { type Claim, claimOf, isHeldByOther } from "./claims.ts";
import { DiskBeingDeleted, DiskInUse, DiskNotOrphaned } from "./errors.ts";
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
  /** Set from before the CPI is asked to delete the disk until the outcome is known. */
  readonly claim: Claim | undefined;
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
      "deleting_task",
      "deleting_since",
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
  claim: claimOf(row),
});

/**
 * Newest first. `before` keeps those that were orphaned earlier, ms since 1970, and those whose deletion was begun: it is
 * completed whatever their age.
 */
export async function listOrphanDisks(db: Db, before?: number): Promise<OrphanDisk[]> {
  const all = orphans(db).orderBy("orphaned_at", "desc").orderBy("id", "desc");
  const due = all.where((is) =>
    is.or([is("orphaned_at", "<", new Date(before ?? 0)), is("deleting_since", "is not", null)]),
  );
  return (await (before === undefined ? all : due).execute()).map(toOrphan);
}

export async function findOrphanDisk(db: Db, cid: string): Promise<OrphanDisk | undefined> {
  const row = await orphans(db).where("cid", "=", cid).executeTakeFirst();
  return row && toOrphan(row);
}

/**
 * Claims an orphaned disk for the task that deletes it; from then on the disk is not given to an instance. `again`: an
 * earlier deletion had an unknown outcome. Undefined: the disk is not orphaned any more.
 */
export function claimOrphanDisk(
  db: Db,
  cid: DiskCid,
  taskId: number,
): Promise<{ readonly again: boolean } | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await orphans(tx).where("cid", "=", cid).forUpdate().executeTakeFirst();
    if (row === undefined) return undefined;
    const claim = claimOf(row);
    if (claim !== undefined && (await isHeldByOther(tx, claim, taskId))) throw beingDeleted(cid, claim);
    await tx
      .updateTable("orphan_disks")
      .set({ deleting_task: taskId, deleting_since: row.deleting_since ?? sql<Date>`now()` })
      .where("cid", "=", cid)
      .execute();
    return { again: claim !== undefined };
  });
}

/** Gives the claim up: the disk was not deleted. */
export async function releaseOrphanDisk(db: Db, cid: DiskCid, taskId: number): Promise<void> {
  await db
    .updateTable("orphan_disks")
    .set({ deleting_task: null, deleting_since: null })
    .where("cid", "=", cid)
    .where("deleting_task", "=", taskId)
    .execute();
}

/** Returns the error for the use of a disk that is being deleted. */
export const beingDeleted = (cid: string, { task, since }: Claim): Error =>
  DiskBeingDeleted({ cid, task, since: new Date(since).toISOString() });

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
 * Gives a disk of the orphan list, or an unknown one, to an instance as its active disk. Its old disk goes to the orphan list,
 * and is returned. All at once, so that each disk is in exactly one place.
 */
export function giveDisk(
  db: Db,
  given: {
    readonly instance: string;
    readonly cid: DiskCid;
    /** Properties of an unknown disk; for an orphan they replace what was recorded. */
    readonly properties?: { readonly size: number; readonly cloudProperties: JsonObject } | undefined;
    readonly cpi: string;
    /** The disk was in the orphan list before, so it must still be there. */
    readonly orphaned: boolean;
  },
): Promise<DiskCid | null> {
  return inTransaction(db, async (tx) => {
    const { instance, cid, properties, cpi, orphaned } = given;
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
    const claim = orphan && claimOf(orphan);
    if (claim !== undefined) throw beingDeleted(cid, claim);
    // Deleted meanwhile: it must not be taken for a disk that was never recorded.
    if (orphaned && orphan === undefined) throw DiskNotOrphaned({ cid });
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
