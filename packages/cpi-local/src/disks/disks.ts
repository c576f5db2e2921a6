import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CpiFailure, cloudError, diskNotFound, noDiskSpace, notSupported } from "@slipway/cpi-sdk/errors";
import type { Provisioning } from "@slipway/cpi-sdk/provisioning";
import { replaceFile, writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { discard, PARTIAL, removeTree } from "../files.ts";
import { type LocalCloud, locked, place, placeOf } from "../local-cloud.ts";
import { holderOf } from "../vms/attachments.ts";
import { allocate } from "./allocate.ts";
import { growImage, makeImage, mustBeLetGo } from "./image.ts";
import { type DiskKind, kindOfNewDisk } from "./kind.ts";

/** A disk is a directory with `content`, or with `image`: a file system in a file. */
export const diskDir = (cloud: LocalCloud, cid: string): string => placeOf(cloud, "disks", cid);
export const imageOf = (cloud: LocalCloud, cid: string): string => join(diskDir(cloud, cid), "image");
export const contentOf = (cloud: LocalCloud, cid: string): string => join(diskDir(cloud, cid), "content");
export const hasDisk = (cloud: LocalCloud, cid: string): Promise<boolean> => exists(diskDir(cloud, cid));

export async function mustHaveDisk(cloud: LocalCloud, cid: string): Promise<void> {
  if (!(await hasDisk(cloud, cid))) throw diskNotFound(cid);
}

export const kindOfDisk = async (cloud: LocalCloud, cid: string): Promise<DiskKind> =>
  (await exists(imageOf(cloud, cid))) ? "loop" : "directory";

/** File that marks a loop disk as preallocated. Disks of earlier versions have no such file, and are thin. */
const MARK = "preallocated";
export const provisioningOf = async (cloud: LocalCloud, cid: string): Promise<Provisioning> =>
  (await exists(join(diskDir(cloud, cid), MARK))) ? "preallocated" : "thin";

/** Runs one call at a time for one disk. A caller that also needs the lock of the VM takes that first. */
export const withDisk = <T>(cloud: LocalCloud, cid: string, work: () => Promise<T>): Promise<T> =>
  locked(cloud, `disk-${place(cid)}`, work);

/** Made under another name and renamed when whole. */
export async function createDisk(
  cloud: LocalCloud,
  cid: string,
  sizeMib: number,
  provisioning: Provisioning,
): Promise<string> {
  const path = diskDir(cloud, cid);
  if (await exists(path)) return cid;
  const partial = `${path}${PARTIAL}`;
  await discard(cloud, path);
  await mkdir(partial, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(partial, "size"), String(sizeMib));
  if ((await kindOfNewDisk(cloud)) === "loop") {
    await makeImage(cloud, cid, join(partial, "image"), sizeMib, provisioning);
    if (provisioning === "preallocated") await writeFile(join(partial, MARK), "");
  } else await mkdir(join(partial, "content"), { mode: 0o755 });
  await rename(partial, path);
  return cid;
}

export async function undoDisk(cloud: LocalCloud, cid: string): Promise<void> {
  await removeTree(cloud, `${diskDir(cloud, cid)}${PARTIAL}`);
}

export const sizeOf = async (cloud: LocalCloud, cid: string): Promise<number> =>
  Number(await readFile(join(diskDir(cloud, cid), "size"), "utf8"));

/** Grows a disk that is attached to no VM. The same size is fine, a smaller one is not. */
export async function resizeDisk(cloud: LocalCloud, cid: string, sizeMib: number): Promise<void> {
  await mustBeFree(cloud, cid);
  const before = await sizeOf(cloud, cid);
  if (sizeMib < before)
    throw notSupported(`disk '${cid}' has ${before} MiB and cannot become smaller (${sizeMib} MiB)`);
  // Also at the same size: an earlier call may have been cut off after writing it down.
  if ((await kindOfDisk(cloud, cid)) === "loop") {
    await mustBeLetGo(cloud, cid, imageOf(cloud, cid));
    await growImage(cloud, cid, imageOf(cloud, cid), sizeMib, await provisioningOf(cloud, cid));
  }
  await writeFileAtomic(join(diskDir(cloud, cid), "size"), String(sizeMib));
}

/** Space that a disk has is not taken from it: a thin one only need not have all. */
export async function provisionDisk(
  cloud: LocalCloud,
  cid: string,
  provisioning: Provisioning,
): Promise<void> {
  await mustBeFree(cloud, cid);
  if ((await kindOfDisk(cloud, cid)) !== "loop") return;
  const mark = join(diskDir(cloud, cid), MARK);
  if (provisioning === "thin") return await rm(mark, { force: true });
  await allocate(cloud, cid, imageOf(cloud, cid), await sizeOf(cloud, cid));
  await writeFile(mark, "");
}

export async function removeDisk(cloud: LocalCloud, cid: string): Promise<void> {
  const path = diskDir(cloud, cid);
  if (!(await exists(path))) {
    // A crash in the middle of a removal or of a creation.
    await discard(cloud, path);
    throw diskNotFound(cid);
  }
  await mustBeFree(cloud, cid);
  if ((await kindOfDisk(cloud, cid)) === "loop") await mustBeLetGo(cloud, cid, imageOf(cloud, cid));
  await discard(cloud, path);
}

export async function describeDisk(cloud: LocalCloud, cid: string, metadata: JsonObject): Promise<void> {
  await mustHaveDisk(cloud, cid);
  await replaceFile(join(diskDir(cloud, cid), "metadata.json"), JSON.stringify(metadata));
}

async function mustBeFree(cloud: LocalCloud, cid: string): Promise<void> {
  await mustHaveDisk(cloud, cid);
  const holder = await holderOf(cloud, cid);
  if (holder !== undefined) throw cloudError(`disk '${cid}' is attached to '${holder}'`);
}

/** Returns the error for a full host if the failure was caused by one. */
export function withoutRoom(error: unknown): Error | undefined {
  const said = messageTrail(error);
  return !(error instanceof CpiFailure) && /ENOSPC|No space left/.test(said)
    ? noDiskSpace(`this host has no room for it: ${said}`, { cause: error })
    : undefined;
}
