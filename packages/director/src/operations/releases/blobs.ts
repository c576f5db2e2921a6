import { createReadStream } from "node:fs";
import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import type { Random } from "@slipway/kernel/random";
import { neededBlobs } from "../../store/release-parts.ts";
import { forgetRetired, retireBlobs, unreadBlobs } from "../../store/retired-blobs.ts";
import type { Db } from "../../store/schema.ts";

const OF_TASK = /^release-(\d{1,15})-/;

/**
 * Returns an id for a job, a package or a compiled package. It names the task: until that is over, rows for the blob may come.
 */
export const releaseBlobId = (taskId: number, random: Random): BlobId =>
  blobId(`release-${taskId}-${random.uuid()}`);

/** A file as a new blob, of any size. */
export async function storeFile(
  file: string,
  taskId: number,
  { blobs, random }: { readonly blobs: Blobs; readonly random: Random },
): Promise<BlobId> {
  const content = createReadStream(file, { highWaterMark: 1 << 18 });
  return (await blobs.put(content, { id: releaseBlobId(taskId, random) })).id;
}

/**
 * Removes blobs of releases that no row names and none will: of uploads that failed or were killed, of releases that were
 * deleted, and those that `upload-release --fix` has replaced. A blob stays while a task runs that may have read its row
 * before. `taskId`: of a task that begins again, and has none that it still needs.
 */
export async function sweepReleaseBlobs(db: Db, blobs: Blobs, taskId?: number): Promise<readonly BlobId[]> {
  // In this order: a task that is over by the second has written by the third.
  const there = (await blobs.list()).filter((id) => OF_TASK.test(id));
  if (there.length === 0) return [];
  const rows = await db
    .selectFrom("tasks")
    .select("id")
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  const running = new Set(rows.map(({ id }) => id).filter((id) => id !== taskId));
  const needed = await neededBlobs(db);
  const stale = there.filter((id) => !needed.has(id) && !running.has(Number(OF_TASK.exec(id)?.[1])));
  // After the rows were read: a task that begins later finds no row that names these blobs.
  await retireBlobs(db, stale);
  return await removeUnreadBlobs(db, blobs);
}

/** Removes the retired blobs that no running task can know of. */
export async function removeUnreadBlobs(db: Db, blobs: Blobs): Promise<readonly BlobId[]> {
  const unread = await unreadBlobs(db);
  if (unread.length === 0) return [];
  // No row is given a blob without an owner; a database that was changed by hand must not lose one for it.
  const needed = await neededBlobs(db);
  const gone = unread.filter((id) => !needed.has(id));
  for (const id of gone) await blobs.remove(id);
  await forgetRetired(db, unread);
  return gone;
}
