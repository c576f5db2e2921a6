import { DeviceSmaller, ForeignContent, TooManyPartitions } from "../../disk-errors.ts";
import type { DiskSettings } from "../../disks.ts";
import { type BlockDevice, blockDevice } from "./block-device.ts";
import { type Contents, firstNonZero, inspect } from "./contents.ts";
import type { DiskContext } from "./context.ts";
import { type FileSystem, fileSystemOf, isWhole, makeFileSystem, mayWrite } from "./format.ts";
import { FormatMarker } from "./format-marker.ts";
import { growFileSystem, releaseGrowMount } from "./grow.ts";
import { kernelPartitions, partitionDevice } from "./kernel-partitions.ts";
import type { MountEntry } from "./mounts.ts";
import {
  createTable,
  GROW_SLACK,
  growPartition,
  type Partition,
  type PartitionTable,
  PERSISTENT_NAME,
  readTable,
  roomBehind,
} from "./partition.ts";

/**
 * Makes a persistent disk ready to be mounted. Each step looks at what is there and does only what is missing, so that
 * a call after a crash at any point finishes the work. See `FormatMarker` for the one state that cannot be seen.
 */
export async function preparePersistent(
  context: DiskContext,
  path: string,
  disk: DiskSettings,
): Promise<void> {
  const type = fileSystemOf(disk.fileSystem);
  if (context.config.UsePreformattedPersistentDisk) return;
  const mounts = await releaseGrowMount(context);
  const device = await blockDevice(context, path);
  if (await isMounted(device, mounts)) return;
  const marker = new FormatMarker(context.paths, disk.cid);
  const whole = context.config.UseWholePersistentDisk === true;
  const place = whole ? device : await firstPartition(context, device, marker);
  await fileSystemOn(context, { disk: device, place, marker, type });
  await marker.end();
}

/** The disk or any partition of it. */
async function isMounted(device: BlockDevice, mounts: readonly MountEntry[]): Promise<boolean> {
  const numbers = new Set([device.number, ...(await kernelPartitions(device))]);
  return mounts.some((mount) => numbers.has(mount.number));
}

async function firstPartition(
  context: DiskContext,
  device: BlockDevice,
  marker: FormatMarker,
): Promise<BlockDevice> {
  const contents = await inspect(context, device);
  if (await mayErase(contents, device, marker)) {
    await mayWrite(context, device, "partitioning");
    await marker.begin(device);
    context.log.info(`partitioning ${device.path} (${device.bytes} bytes)`);
    await createTable(context, device.path, [{ name: PERSISTENT_NAME, use: "linux" }]);
  } else if (contents.kind !== "table") {
    throw refusal(device, contents, "an empty disk or a partition table with one partition");
  }
  const partition = await onlyPartition(context, device, await readTable(context, device.path));
  if (partition.startBytes + partition.bytes > device.bytes) {
    const needs = partition.startBytes + partition.bytes;
    throw DeviceSmaller({ device: device.path, has: device.bytes, needs, what: "the partition" });
  }
  if (device.readOnly || (await roomBehind(device, partition)) <= GROW_SLACK) {
    return partitionDevice(context, device, partition);
  }
  // A partition that holds nothing of ours is not touched, not even its end.
  const current = await partitionDevice(context, device, partition);
  await mustBeUsable(await inspect(context, current), { place: current, disk: device, partition, marker });
  context.log.info(`growing the partition of ${device.path} to ${device.bytes} bytes`);
  await growPartition(context, device.path, partition.number);
  return partitionDevice(
    context,
    device,
    await onlyPartition(context, device, await readTable(context, device.path)),
  );
}

async function onlyPartition(
  context: DiskContext,
  device: BlockDevice,
  table: PartitionTable | undefined,
): Promise<Partition> {
  const [first, ...others] = table?.partitions ?? [];
  if (others.length > 0) throw TooManyPartitions({ device: device.path, count: others.length + 1 });
  if (first !== undefined) return first;
  throw refusal(device, await inspect(context, device), "a table with one partition");
}

interface Work {
  readonly disk: BlockDevice;
  readonly place: BlockDevice;
  readonly marker: FormatMarker;
  readonly type: FileSystem;
}

/** Keeps and grows the file system that is there, or makes one where there is certainly nothing. */
async function fileSystemOn(context: DiskContext, work: Work): Promise<void> {
  const { disk, place, marker, type } = work;
  const contents = await inspect(context, place);
  const covered = await marker.covers(disk);
  if (contents.kind === "file-system") {
    const { superblock } = contents;
    const keep = covered ? await isWhole(context, place, superblock) : superblock.complete;
    if (keep) {
      if (superblock.type !== type) {
        context.log.info(
          `${place.path} stays ${superblock.type}, though ${type} was asked for: it holds data`,
        );
      }
      return growFileSystem(context, place, superblock);
    }
    if (!covered) throw refusal(place, contents, "a complete file system");
  } else {
    const partition = disk === place ? undefined : (await readTable(context, disk.path))?.partitions[0];
    await mustBeUsable(contents, { place, disk, partition, marker });
  }
  await mayWrite(context, place, `making a ${type} file system`);
  await marker.begin(disk);
  await makeFileSystem(context, place, type);
}

interface Candidate {
  readonly place: BlockDevice;
  readonly disk: BlockDevice;
  /** Partition of the disk. Undefined if the disk is used as a whole. */
  readonly partition: Partition | undefined;
  readonly marker: FormatMarker;
}

/** Passes if there is a file system of a kind we use, or if the place may be overwritten; refuses otherwise. */
async function mustBeUsable(contents: Contents, candidate: Candidate): Promise<void> {
  const { place, disk, partition, marker } = candidate;
  if (contents.kind === "file-system") return;
  if (partition === undefined) {
    if (await mayErase(contents, disk, marker)) return;
    // What an agent left that was then told to use disks whole: its own table around nothing.
    if (contents.kind === "table" && (await isOwnEmptyTable(disk, contents.table))) return;
  } else if (contents.kind === "zeros") {
    if (partition.name === PERSISTENT_NAME || (await marker.covers(disk))) return;
    throw ForeignContent({
      device: place.path,
      found: `nothing, but in a partition ${partition.name === "" ? "without a name" : `called "${partition.name}"`}`,
      wanted: `a partition called "${PERSISTENT_NAME}"`,
    });
  } else if (await mayErase(contents, disk, marker)) return;
  throw refusal(place, contents, "ext4, xfs or zeros");
}

/** Zeros, or what our own interrupted sfdisk or mkfs left. */
async function mayErase(contents: Contents, disk: BlockDevice, marker: FormatMarker): Promise<boolean> {
  if (contents.kind === "zeros") return true;
  if (contents.kind === "unknown") return !contents.foreign && marker.covers(disk);
  if (contents.kind === "table") return contents.table.partitions.length === 0 && marker.covers(disk);
  return false;
}

async function isOwnEmptyTable(disk: BlockDevice, table: PartitionTable): Promise<boolean> {
  const [first, ...others] = table.partitions;
  if (first?.name !== PERSISTENT_NAME || others.length > 0) return false;
  return (await firstNonZero(disk, first.startBytes, first.bytes)) === undefined;
}

export function refusal(device: BlockDevice, contents: Contents, wanted: string) {
  return ForeignContent({ device: device.path, found: describe(contents), wanted });
}

function describe(contents: Contents): string {
  switch (contents.kind) {
    case "zeros":
      return "nothing but zeros";
    case "file-system":
      return contents.superblock.complete
        ? `a ${contents.superblock.type} file system on the whole device`
        : `a ${contents.superblock.type} file system whose mkfs was interrupted`;
    case "table": {
      const names = contents.table.partitions.map((partition) => partition.name || "unnamed");
      return `a ${contents.table.label} partition table with ${names.length} partitions (${names.join(", ") || "none"})`;
    }
    case "unknown":
      return contents.found;
  }
}
