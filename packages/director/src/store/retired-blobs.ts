import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { TaskType } from "@slipway/protocol/director/task";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Task types that change releases and read no blob by a row they have read before. */
const NO_READERS: readonly TaskType[] = ["update_release", "delete_release", "delete_artifacts"];

/** Tasks that may know a blob by a row that is gone. A queued task reads rows again before it uses them. */
const readers = (db: Db) =>
  db
    .selectFrom("tasks")
    .select("id")
    .where("state", "in", ["processing", "cancelling"])
    .where("type", "not in", [...NO_READERS]);

/** Notes blobs that no row names, with the tasks that run now. A blob that was noted before keeps its tasks. */
export async function retireBlobs(db: Db, ids: readonly BlobId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`insert into retired_blobs (blob_id, readers)
    select id, array(${readers(db)}) from unnest(${[...ids]}::text[]) as id
    on conflict do nothing`.execute(db);
}

/** Retired blobs that no running task can know of. */
export async function unreadBlobs(db: Db): Promise<readonly BlobId[]> {
  const { rows } = await sql<{ blob_id: BlobId }>`select blob_id from retired_blobs
    where not readers && array(${readers(db)}) order by blob_id`.execute(db);
  return rows.map(({ blob_id }) => blob_id);
}

export async function forgetRetired(db: Db, ids: readonly BlobId[]): Promise<void> {
  if (ids.length > 0)
    await db
      .deleteFrom("retired_blobs")
      .where("blob_id", "in", [...ids])
      .execute();
}
