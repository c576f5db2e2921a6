import type { SnapshotCid } from "@slipway/protocol/ids";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

export interface SnapshotRecord {
  readonly cid: SnapshotCid;
  readonly cpi: string;
  readonly diskCid: string;
  readonly clean: boolean;
  readonly createdAt: number;
  /** The task that has asked for it. */
  readonly taskId: number;
}

export interface InstanceSnapshot extends SnapshotRecord {
  readonly group: string;
  readonly index: number;
  readonly uuid: string;
}

interface Row {
  readonly cid: string;
  readonly cpi: string;
  readonly disk_cid: string;
  readonly clean: boolean;
  readonly created_at: Date;
  readonly task_id: number;
}

const toRecord = (row: Row): SnapshotRecord => ({
  cid: row.cid as SnapshotCid,
  cpi: row.cpi,
  diskCid: row.disk_cid,
  clean: row.clean,
  createdAt: row.created_at.getTime(),
  taskId: row.task_id,
});

/** Lists snapshots of the disks that instances of a deployment have, oldest first. */
export async function listSnapshots(db: Db, deployment: string): Promise<readonly InstanceSnapshot[]> {
  const { rows } = await sql<Row & { group_name: string; index: number; uuid: string }>`
    select s.cid, s.cpi, s.disk_cid, s.clean, s.created_at, s.task_id, i.group_name, i.index, i.uuid
    from snapshots s
      join persistent_disks p on p.cid = s.disk_cid
      join instances i on i.id = p.instance_id
      join deployments d on d.id = i.deployment_id
    where d.name = ${deployment} order by s.id`.execute(db);
  return rows.map((row) => ({
    ...toRecord(row),
    group: row.group_name,
    index: row.index,
    uuid: row.uuid,
  }));
}

/** Lists the snapshots of a disk, wherever it is. */
export async function snapshotsOfDisk(db: Db, diskCid: string): Promise<readonly SnapshotRecord[]> {
  const rows = await db
    .selectFrom("snapshots")
    .selectAll()
    .where("disk_cid", "=", diskCid)
    .orderBy("id")
    .execute();
  return rows.map(toRecord);
}

/** Returns the names of deployments whose instances have disks, sorted. */
export async function deploymentsWithDisks(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from deployments d
    where exists (
      select 1 from instances i join persistent_disks p on p.instance_id = i.id where i.deployment_id = d.id)
    order by name`.execute(db);
  return rows.map(({ name }) => name);
}
