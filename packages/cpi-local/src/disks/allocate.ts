import { stat, statfs, truncate } from "node:fs/promises";
import { CpiFailure, noDiskSpace } from "@slipway/cpi-sdk/errors";
import { messageTrail } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { DiskCommandFailed } from "../errors.ts";
import type { LocalCloud } from "../local-cloud.ts";

const MIB = 1024 * 1024;
const BLOCK = 512;
/** No disk takes the last of the host's space: a tenth, and not more than this, stays. */
const MOST_KEPT = 1024 * MIB;

/**
 * Takes all the space of a disk now, and makes its file as large. What is in it stays. The kernel sets a file system to
 * read-only when the file below it cannot grow.
 */
export async function allocate(
  cloud: LocalCloud,
  disk: string,
  image: string,
  sizeMib: number,
): Promise<void> {
  const before = await stat(image);
  const missing = sizeMib * MIB - before.blocks * BLOCK;
  if (missing <= 0 && before.size >= sizeMib * MIB) return;
  const { bavail, blocks, bsize } = await statfs(image);
  const room = bavail * bsize - Math.min(MOST_KEPT, (blocks * bsize) / 10);
  if (missing > room) throw noSpaceFor(disk, sizeMib, Math.max(0, Math.floor(room / MIB)));
  // Where the file system of the host cannot do it, the C library writes to every block.
  const args = ["--posix", "--length", String(sizeMib * MIB), image];
  await mustRun(cloud.exec, "allocating its space", "fallocate", args).catch(async (cause: unknown) => {
    await truncate(image, before.size);
    const said = messageTrail(cause);
    if (/No space left|quota exceeded/i.test(said)) throw noSpaceFor(disk, sizeMib, 0, cause);
    throw DiskCommandFailed({ disk, doing: "allocating its space", said }, { cause });
  });
}

/** Fills the holes of a disk as far as there is room. The disk can be used even if some are left. */
export async function fillHoles(
  cloud: LocalCloud,
  disk: string,
  image: string,
  sizeMib: number,
): Promise<void> {
  await allocate(cloud, disk, image, sizeMib).catch((error: unknown) => {
    if (!(error instanceof CpiFailure)) throw error;
  });
}

const noSpaceFor = (disk: string, sizeMib: number, roomMib: number, cause?: unknown) =>
  noDiskSpace(
    `disk '${disk}' of ${sizeMib} MiB: this host has ${roomMib} MiB for it. Free space, ask for a smaller disk, ` +
      "or for one that takes space as it is written to: provisioning: thin in the cloud properties of its disk type",
    { cause },
  );
