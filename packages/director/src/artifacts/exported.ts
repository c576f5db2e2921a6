import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import type { Random } from "@slipway/kernel/random";

/**
 * Name of an exported release among the blobs; no record names them. They stay until a clean-up, or until they are as old as the
 * configuration says.
 */
const EXPORTED = /^exported-release-(\d{1,15})-/;

export const exportedBlobId = (taskId: number, random: Random): BlobId =>
  blobId(`exported-release-${taskId}-${random.uuid()}`);

export interface ExportedRelease {
  readonly id: BlobId;
  /** The task that made it. */
  readonly taskId: number;
}

export async function exportedReleases(blobs: Blobs): Promise<readonly ExportedRelease[]> {
  return (await blobs.list()).flatMap((id) => {
    const task = EXPORTED.exec(id)?.[1];
    return task === undefined ? [] : [{ id, taskId: Number(task) }];
  });
}

/** Removes those of them that were made before this time. */
export async function expireExported(ids: readonly BlobId[], blobs: Blobs, before: number): Promise<void> {
  for (const id of ids) {
    const file = await blobs.stat(id);
    if (file !== undefined && file.storedAt < before) await blobs.remove(id);
  }
}
