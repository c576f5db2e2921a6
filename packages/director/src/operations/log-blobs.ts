import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import type { Random } from "@slipway/kernel/random";

/** Prefix of logs among the blobs. No record names them, and they expire. */
const LOGS = "logs-";
/** Prefix of one instance's logs, until they are packed with others. */
const PART = "logs-part-";

const DAY_MS = 86_400_000;
const KEPT = 100;

export const newLogs = (random: Random): BlobId => blobId(LOGS + random.uuid());
export const newPart = (random: Random): BlobId => blobId(PART + random.uuid());

/** Removes logs that are older than so many days, and all but the newest hundred. */
export async function expireLogs(blobs: Blobs, days: number, now: number): Promise<void> {
  const found: { readonly id: BlobId; readonly at: number }[] = [];
  for (const id of await blobs.list()) {
    const file = id.startsWith(LOGS) ? await blobs.stat(id) : undefined;
    if (file !== undefined) found.push({ id, at: file.storedAt });
  }
  const whole = found.filter(({ id }) => !id.startsWith(PART)).sort((a, b) => b.at - a.at);
  const many = whole.slice(KEPT);
  const old = found.filter(({ at }) => at < now - days * DAY_MS);
  for (const { id } of new Set([...many, ...old])) await blobs.remove(id);
}
