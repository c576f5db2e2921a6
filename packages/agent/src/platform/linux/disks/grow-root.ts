import { messageTrail } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import type { DiskContext } from "./context.ts";
import { partitionDevice } from "./kernel-partitions.ts";
import { GROW_SLACK, growPartition, readTable, roomBehind } from "./partition.ts";
import { type RootPartition, rootPartition } from "./root-partition.ts";
import { readSuperblock } from "./superblock.ts";

/**
 * Gives the root file system the room behind it: stemcells are smaller than the disks they are put on. Its start does
 * not move and nothing is unmounted. A machine that cannot do it runs on as it is, so it is only said.
 */
export async function growRoot(context: DiskContext): Promise<void> {
  if (context.config.SkipDiskSetup) return;
  try {
    const root = await rootPartition(context);
    if ("why" in root) return context.log.info(`the root file system is left as it is: ${root.why}`);
    // With something behind it there is nothing to grow into; that may be the ephemeral data of this very VM.
    if (root.behind.length === 0) await grow(context, root);
  } catch (error) {
    context.log.warn(`the root file system is not grown: ${messageTrail(error)}`);
  }
}

async function grow(context: DiskContext, { disk, partition }: RootPartition): Promise<void> {
  const { paths, exec, log } = context;
  let current = partition;
  if ((await roomBehind(disk, partition)) > GROW_SLACK) {
    log.info(`growing partition ${partition.number} of ${disk.path}, the root file system's`);
    await growPartition(context, disk.path, partition.number);
    const table = await readTable(context, disk.path);
    current = table?.partitions.find((one) => one.number === partition.number) ?? partition;
  }
  const device = await partitionDevice(context, disk, current);
  const superblock = await readSuperblock(device.path);
  if (superblock === undefined || device.bytes - superblock.bytes <= GROW_SLACK) return;
  const doing = "growing the root file system";
  if (superblock.type === "xfs") await mustRun(exec, doing, "xfs_growfs", [paths.system()]);
  else await mustRun(exec, doing, "resize2fs", [device.path]);
  log.info(`the root file system fills its partition of ${device.bytes} bytes`);
}
