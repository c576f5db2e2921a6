import { open } from "node:fs/promises";
import { mustRun } from "@slipway/kernel/exec";
import { DeviceReadOnly, ForeignContent, UnsupportedFileSystem } from "../../disk-errors.ts";
import { type BlockDevice, waitUntilUnclaimed } from "./block-device.ts";
import { inspect } from "./contents.ts";
import type { DiskContext } from "./context.ts";
import type { Superblock } from "./superblock.ts";
import { attribute } from "./sysfs.ts";

const LOOP_MAJOR = "7:";

export type FileSystem = "ext4" | "xfs";

/** The type that `persistent_disk_fs` asks for. */
export function fileSystemOf(wanted: string): FileSystem {
  if (wanted === "" || wanted === "ext4") return "ext4";
  if (wanted === "xfs") return "xfs";
  throw UnsupportedFileSystem({ type: wanted });
}

/**
 * Makes a file system; whether the device may be overwritten was decided before (`mayWrite` included). When this
 * resolves the file system is on the disk and was read back.
 */
export async function makeFileSystem(
  context: DiskContext,
  device: BlockDevice,
  type: FileSystem,
): Promise<void> {
  context.log.info(`making a ${type} file system on ${device.path} (${device.bytes} bytes)`);
  const doing = `formatting ${device.path}`;
  // What is discarded there become holes in the file below it, whose space may have been taken on purpose.
  const keep = device.number.startsWith(LOOP_MAJOR);
  if (type === "xfs") {
    await mustRun(context.exec, doing, "mkfs.xfs", ["-q", "-f", ...(keep ? ["-K"] : []), device.path]);
  } else {
    const lazy = await attribute(context.paths.system("sys", "fs", "ext4", "features", "lazy_itable_init"));
    const extended = [...(lazy === undefined ? [] : ["lazy_itable_init=1"]), ...(keep ? ["nodiscard"] : [])];
    const options = extended.length === 0 ? [] : ["-E", extended.join(",")];
    await mustRun(context.exec, doing, "mke2fs", ["-q", "-F", "-t", "ext4", "-j", ...options, device.path]);
  }
  await flush(device.path);
  const made = await inspect(context, device);
  if (made.kind === "file-system" && made.superblock.type === type) return;
  const found = made.kind === "unknown" ? made.found : made.kind;
  throw ForeignContent({
    device: device.path,
    found: `${found} after mkfs`,
    wanted: `the new ${type} file system`,
  });
}

/** Checks a device before the first write: it must be writable and unused. */
export async function mayWrite(context: DiskContext, device: BlockDevice, doing: string): Promise<void> {
  if (device.readOnly) throw DeviceReadOnly({ device: device.path, doing: `${doing} is not possible` });
  await waitUntilUnclaimed(context, device.path, doing);
}

/**
 * Returns true if a file system that was found while a note says we were formatting is whole. A killed mke2fs leaves no
 * superblock, but after a power cut the superblock may have reached the disk before the rest. Only a file system that
 * was certainly never mounted is doubted.
 */
export async function isWhole(
  context: DiskContext,
  device: BlockDevice,
  superblock: Superblock,
): Promise<boolean> {
  if (!superblock.complete) return false;
  if (superblock.everMounted) return true;
  const checked = await context.exec("e2fsck", ["-f", "-n", device.path]);
  return checked.code === 0;
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
