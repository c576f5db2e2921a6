import { realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { NoPartitionDevice } from "../../disk-errors.ts";
import { type BlockDevice, blockDevice, nodeFor } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import type { DeviceNumber } from "./device-nodes.ts";
import type { Partition } from "./partition.ts";
import { attribute, entries } from "./sysfs.ts";

const SYSFS_SECTOR = 512;
const TRIES = 20;

interface KernelPartition {
  readonly name: string;
  readonly number: DeviceNumber;
  readonly startBytes: number;
  readonly bytes: number;
}

/**
 * The device of a partition that is in the table of a disk.
 *
 * Kernels read tables by themselves when a disk appears or its table changes. Some do not: built without the GPT
 * reader, or loop devices made without partition scanning. They can still be told of a partition (BLKPG, what partx
 * does), for as long as the disk is attached. Where even that fails nothing but using the disk whole helps, and the
 * error says so.
 */
export async function partitionDevice(
  context: DiskContext,
  disk: BlockDevice,
  partition: Partition,
): Promise<BlockDevice> {
  if (disk.path.startsWith(context.paths.system("dev", "mapper")))
    return mappedPartition(context, disk, partition);
  const known = await findInKernel(disk, partition.number);
  if (known !== undefined && agrees(known, partition)) return open(context, known);
  let said = "";
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const told = await context.exec("partx", ["--update", "--nr", String(partition.number), disk.path]);
    said = told.stderr.trim() || `partx ended with ${told.code}`;
    const found = await findInKernel(disk, partition.number);
    if (found !== undefined && agrees(found, partition)) {
      if (known === undefined) {
        context.log.warn(
          `the kernel made no device for partition ${partition.number} of ${disk.path} by itself (it reads no partition tables, or not on this disk); partx told it`,
        );
      }
      return open(context, found);
    }
    // Without the permission or the ioctl, asking again changes nothing. Others looking at the disk are over soon, and
    // so is a kernel that reads its table once more: meanwhile it has no partitions, whatever partx did.
    if (told.code !== 0 && !/busy/i.test(told.stderr)) break;
    await context.clock.sleep(250);
  }
  throw NoPartitionDevice({ device: disk.path, partition: partition.number, said });
}

/** The node of a disk's first partition, whether or not the kernel has it yet; the disk's own node may be called anything. */
export async function firstPartitionPath(context: DiskContext, disk: string): Promise<string> {
  const number = await context.nodes.numberOf(disk);
  if (number === undefined || disk.includes("/mapper/")) return partitionPath(disk, 1);
  const name = basename(await realpath(context.paths.system("sys", "dev", "block", number)));
  return context.paths.system("dev", partitionPath(name.replaceAll("!", "/"), 1));
}

/** The name a partition has after that of its disk. */
function partitionPath(path: string, number: number): string {
  if (/\/mapper\/[^/]+$/.test(path)) return `${path}-part${number}`;
  return /\d$/.test(path) ? `${path}p${number}` : `${path}${number}`;
}

/** The numbers of all partitions the kernel has devices for. */
export async function kernelPartitions(disk: BlockDevice): Promise<readonly DeviceNumber[]> {
  const names = (await partitionNames(disk)).map(({ name }) => name);
  return await Promise.all(names.map(async (name) => (await attribute(join(disk.sysfs, name, "dev"))) ?? ""));
}

/** Named after their disk, as are only they among what sysfs has of it. */
async function partitionNames(disk: BlockDevice): Promise<readonly { name: string; partition: string }[]> {
  const names = (await entries(disk.sysfs)).filter((name) => name.startsWith(disk.name));
  const numbers = await Promise.all(names.map((name) => attribute(join(disk.sysfs, name, "partition"))));
  return names.flatMap((name, at) => {
    const partition = numbers[at];
    return partition === undefined ? [] : [{ name, partition }];
  });
}

async function findInKernel(disk: BlockDevice, number: number): Promise<KernelPartition | undefined> {
  for (const { name, partition } of await partitionNames(disk)) {
    if (partition !== String(number)) continue;
    const [dev, start, size] = await Promise.all(
      ["dev", "start", "size"].map((file) => attribute(join(disk.sysfs, name, file))),
    );
    if (dev === undefined) continue;
    return {
      name,
      number: dev,
      startBytes: Number(start) * SYSFS_SECTOR,
      bytes: Number(size) * SYSFS_SECTOR,
    };
  }
  return undefined;
}

/** The kernel may still have the partition as it was before the table changed. */
const agrees = (kernel: KernelPartition, table: Partition) =>
  kernel.startBytes === table.startBytes && kernel.bytes === table.bytes;

async function open(context: DiskContext, partition: KernelPartition): Promise<BlockDevice> {
  return blockDevice(context, await nodeFor(context, partition.name, partition.number));
}

/** Partitions of multipath devices are devices of the mapper, and kpartx makes them. */
async function mappedPartition(
  context: DiskContext,
  disk: BlockDevice,
  partition: Partition,
): Promise<BlockDevice> {
  const path = partitionPath(disk.path, partition.number);
  if ((await context.nodes.numberOf(path)) === undefined) {
    const made = await context.exec("kpartx", ["-a", "-s", "-p", "-part", disk.path]);
    if ((await context.nodes.numberOf(path)) === undefined) {
      const said = `kpartx: ${made.stderr.trim() || `ended with ${made.code}`}`;
      throw NoPartitionDevice({ device: disk.path, partition: partition.number, said });
    }
  }
  return blockDevice(context, path);
}
