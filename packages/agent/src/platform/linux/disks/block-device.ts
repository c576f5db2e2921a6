import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { DeviceClaimed, DeviceGone } from "../../disk-errors.ts";
import type { DiskContext } from "./context.ts";
import type { DeviceNumber } from "./device-nodes.ts";
import { attribute } from "./sysfs.ts";

const SYSFS_SECTOR = 512;

/** A block device as sysfs knows it now. */
export interface BlockDevice {
  readonly path: string;
  readonly number: DeviceNumber;
  /** The kernel's name: `sdb`, `loop3`, `nvme0n1p1`. */
  readonly name: string;
  readonly sysfs: string;
  readonly bytes: number;
  readonly readOnly: boolean;
}

export async function blockDevice(context: DiskContext, path: string): Promise<BlockDevice> {
  const number = await context.nodes.numberOf(path);
  if (number === undefined) throw DeviceGone({ device: path, why: "there is no block device of that name" });
  const sysfs = context.paths.system("sys", "dev", "block", number);
  const [size, readOnly] = await Promise.all([attribute(join(sysfs, "size")), attribute(join(sysfs, "ro"))]);
  if (size === undefined) throw DeviceGone({ device: path, why: `the kernel has no device ${number}` });
  const bytes = Number(size) * SYSFS_SECTOR;
  // A loop device whose file was taken away, or a disk whose transport is gone, stays with no size.
  if (!(bytes > 0)) throw DeviceGone({ device: path, why: "its size is 0, nothing is attached to it" });
  return {
    path,
    number,
    name: basename(await realpath(sysfs)),
    sysfs,
    bytes,
    readOnly: readOnly === "1",
  };
}

export async function sectorBytes(device: BlockDevice): Promise<number> {
  return Number((await attribute(join(device.sysfs, "queue", "logical_block_size"))) ?? SYSFS_SECTOR);
}

/** Returns the identity of a disk from the hardware or the loop driver. Empty if it has none. */
export async function identityOf(device: BlockDevice): Promise<string> {
  for (const file of [
    "serial",
    "wwid",
    "device/serial",
    "device/wwid",
    "device/vpd_pg80",
    "loop/backing_file",
  ]) {
    const value = await attribute(join(device.sysfs, file));
    if (value) return `${file}=${value.replaceAll(/[^\x20-\x7e]/g, "")}`;
  }
  return "";
}

/**
 * A node through which a device of the kernel can be opened: `preferred` or the usual one under `/dev`, if it has that
 * number, otherwise made. A container's `/dev` does not get the nodes of disks attached later.
 */
export async function nodeFor(
  context: DiskContext,
  name: string,
  number: DeviceNumber,
  preferred?: string,
): Promise<string> {
  const usual = context.paths.system("dev", name.replaceAll("!", "/"));
  const candidates = preferred === undefined ? [usual] : [preferred, usual];
  for (const path of candidates) {
    if ((await context.nodes.numberOf(path)) === number) return path;
  }
  for (const path of candidates) {
    if ((await context.nodes.numberOf(path)) !== undefined) continue; // Another device's: not ours to replace.
    const [major = "", minor = ""] = number.split(":");
    await mustRun(context.exec, `making the device node ${path}`, "mknod", [
      "-m",
      "0600",
      path,
      "b",
      major,
      minor,
    ]);
    return path;
  }
  throw DeviceGone({ device: usual, why: `the node belongs to another device than ${number}` });
}

/**
 * Fails if the device is claimed: a mount in any namespace, LVM, swap, or a mkfs that outlived an agent
 * killed in the middle of it. A mkfs ends by itself, so it is waited for.
 */
export async function waitUntilUnclaimed(context: DiskContext, path: string, doing: string): Promise<void> {
  const giveUp = context.clock.monotonic() + CLAIM_PATIENCE_MS;
  while (await isClaimed(path)) {
    if (context.clock.monotonic() >= giveUp) throw DeviceClaimed({ device: path, doing });
    await context.clock.sleep(500);
  }
}

/** Returns true if a device is in use, such as by a mount in any namespace. The kernel checks this for O_EXCL. */
export async function isClaimed(path: string): Promise<boolean> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_EXCL);
    await handle.close();
    return false;
  } catch (error) {
    if (systemCode(error) !== "EBUSY") throw error;
    return true;
  }
}

const CLAIM_PATIENCE_MS = 60_000;
