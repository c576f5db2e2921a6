import { open, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { ifThere } from "@slipway/kernel/files";

const SIZE = 32 << 20;
/** Free space below which the server can no longer write what it needs to answer even reads. */
const SCARCE = 8 << 20;
/** Free space with which there is enough to set some aside again. */
const PLENTY = 256 << 20;
const LOOKS_EVERY_MS = 1000;
const CHUNK = Buffer.alloc(1 << 20);

/**
 * Keeps some space of the server's disk in a file, and gives it to the server when the disk is full: it then goes on
 * while everything else waits for space. Until the signal is aborted; the file stays.
 */
export async function keepReserve(path: string, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    // A disk that cannot be looked at, or is full in the middle of it, is looked at again.
    await adjust(path).catch(() => undefined);
    await clock.sleep(LOOKS_EVERY_MS, signal);
  }
}

async function adjust(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  const free = bavail * bsize;
  const size = (await ifThere(stat(path)))?.size;
  if (free < SCARCE) {
    if (size !== undefined) await rm(path, { force: true });
  } else if (size !== SIZE && free > PLENTY) await fill(path);
}

/** Written, not only sized: a file of holes keeps nothing. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    for (let written = 0; written < SIZE; written += CHUNK.length) await file.write(CHUNK);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
