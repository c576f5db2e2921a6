import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type BlockDevice, blockDevice, nodeFor } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { mountAt, mountTable } from "./mounts.ts";
import { type Partition, type PartitionTable, readTable } from "./partition.ts";
import { attribute } from "./sysfs.ts";

const SYSFS_SECTOR = 512;

/** The partition that the machine runs from, as kernel and table agree on it. */
export interface RootPartition {
  readonly disk: BlockDevice;
  readonly table: PartitionTable;
  readonly partition: Partition;
  /** Partitions that lie behind it on the disk, in their order there. */
  readonly behind: readonly Partition[];
}

/** Or why there is none: containers have no disk of their own, and that is no fault. */
export async function rootPartition(context: DiskContext): Promise<RootPartition | { readonly why: string }> {
  const { paths } = context;
  const mount = mountAt(await mountTable(paths), paths.system());
  if (mount === undefined) return { why: "the mount table has no root file system" };
  const sysfs = await realpath(paths.system("sys", "dev", "block", mount.number)).catch(() => undefined);
  if (sysfs === undefined) return { why: `the root file system (${mount.type}) is not on a disk` };
  const number = await attribute(join(sysfs, "partition"));
  const above = await attribute(join(dirname(sysfs), "dev"));
  if (number === undefined || above === undefined)
    return { why: `the root file system is on ${basename(sysfs)}, which is no partition` };
  const disk = await blockDevice(context, await nodeFor(context, basename(dirname(sysfs)), above));
  const table = await readTable(context, disk.path);
  const partition = table?.partitions.find((one) => one.number === Number(number));
  if (table === undefined || partition === undefined)
    return { why: `the partition table of ${disk.path} does not show partition ${number}` };
  const [start, size] = [await attribute(join(sysfs, "start")), await attribute(join(sysfs, "size"))];
  // The table is ahead of the kernel when an agent was killed while it grew the partition.
  const agree =
    partition.startBytes === Number(start) * SYSFS_SECTOR && partition.bytes >= Number(size) * SYSFS_SECTOR;
  if (!agree) return { why: `kernel and partition table of ${disk.path} disagree about partition ${number}` };
  const behind = table.partitions
    .filter((one) => one.startBytes > partition.startBytes)
    .sort((a, b) => a.startBytes - b.startBytes);
  return { disk, table, partition, behind };
}
