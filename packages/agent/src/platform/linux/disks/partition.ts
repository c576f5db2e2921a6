import { mustRun } from "@slipway/kernel/exec";
import { type BlockDevice, sectorBytes } from "./block-device.ts";
import type { DiskContext } from "./context.ts";

const MIB = 1024 * 1024;

/** Upstream's names; a table with them is one that an agent made. */
export const PERSISTENT_NAME = "bosh-partition-0";
export const OWN_PREFIX = "bosh-partition-";
/** Types of swap partitions in a GPT and in an MBR table. */
const SWAP_TYPES = ["0657FD6D-A4AB-43C4-84E5-0933C84B4F4F", "82"];

export const isSwap = (partition: Partition): boolean => SWAP_TYPES.includes(partition.type);

/**
 * Less room than this behind a partition or file system is not worth growing into, and may be unusable: alignment, the
 * second GPT, a last block group too small for its own tables. Without the slack every mount would try to grow.
 */
export const GROW_SLACK = 16 * MIB;

export interface Partition {
  readonly number: number;
  readonly startBytes: number;
  readonly bytes: number;
  /** GPT only. */
  readonly name: string;
  readonly type: string;
}

export interface PartitionTable {
  readonly label: string;
  readonly partitions: readonly Partition[];
}

export interface NewPartition {
  readonly name: string;
  readonly use: "linux" | "swap";
  /** Size in MiB. Undefined for all the space that is left. */
  readonly mib?: number | undefined;
}

interface Dump {
  readonly partitiontable?: {
    readonly label?: string;
    readonly sectorsize?: number;
    readonly partitions?: readonly {
      readonly node: string;
      readonly start: number;
      readonly size: number;
      readonly name?: string;
      readonly type: string;
    }[];
  };
}

/** The table on a disk; undefined when sfdisk finds none it can read. */
export async function readTable(context: DiskContext, device: string): Promise<PartitionTable | undefined> {
  const dump = await context.exec("sfdisk", ["--json", device]);
  if (dump.code !== 0) return undefined;
  const table = (JSON.parse(dump.stdout) as Dump).partitiontable;
  if (table?.label === undefined) return undefined;
  const sector = table.sectorsize ?? 512;
  const partitions = (table.partitions ?? []).map((entry) => ({
    number: Number(/\d{1,6}$/.exec(entry.node)?.[0] ?? Number.NaN),
    startBytes: entry.start * sector,
    bytes: entry.size * sector,
    name: entry.name ?? "",
    type: entry.type.toUpperCase(),
  }));
  return { label: table.label, partitions };
}

/**
 * Writes a new GPT. The caller has made sure that the disk is empty or ours. The kernel is told by sfdisk, and what it
 * makes of that is looked at afterwards (`partitionDevice`), so that failing to re-read is no error here.
 */
export async function createTable(
  context: DiskContext,
  device: string,
  partitions: readonly NewPartition[],
): Promise<void> {
  const lines = partitions.map((partition, index) => {
    const start = index === 0 ? "start=1MiB, " : "";
    const size = partition.mib === undefined ? "" : `size=${partition.mib}MiB, `;
    return `${start}${size}type=${partition.use}, name="${partition.name}"`;
  });
  await sfdisk(
    context,
    device,
    "partitioning",
    ["--wipe", "always", "--wipe-partitions", "always"],
    ["label: gpt", ...lines],
  );
}

const LEAVE_CONTENTS = ["--wipe", "never", "--wipe-partitions", "never"];

/** Extends a partition into what is free behind it. Its start does not move, so the file system in it does not notice. */
export async function growPartition(context: DiskContext, device: string, number: number): Promise<void> {
  await sfdisk(
    context,
    device,
    "growing the partition of",
    [...LEAVE_CONTENTS, "-N", String(number)],
    [", +"],
  );
}

/** Adds partitions one after the other from there on; the table and what it shows already stay as they are. */
export async function appendPartitions(
  context: DiskContext,
  device: BlockDevice,
  at: { readonly start: number; readonly named: boolean },
  partitions: readonly NewPartition[],
): Promise<void> {
  const sector = await sectorBytes(device);
  let next = at.start;
  const lines = partitions.map(({ mib, use, name }) => {
    const size = mib === undefined ? "" : `size=${(mib * MIB) / sector}, `;
    const line = `start=${next / sector}, ${size}type=${use}${at.named ? `, name="${name}"` : ""}`;
    next += (mib ?? 0) * MIB;
    return line;
  });
  await sfdisk(context, device.path, "adding partitions to", [...LEAVE_CONTENTS, "--append"], lines);
}

async function sfdisk(
  context: DiskContext,
  device: string,
  doing: string,
  options: readonly string[],
  script: readonly string[],
): Promise<void> {
  const args = ["--quiet", "--no-reread", ...options, device];
  await mustRun(context.exec, `${doing} ${device}`, "sfdisk", args, { input: `${script.join("\n")}\n` });
}

/** Returns the unused space of the disk behind a partition. */
export async function roomBehind(device: BlockDevice, partition: Partition): Promise<number> {
  // The second GPT takes 33 sectors at the end.
  const usable = device.bytes - 34 * (await sectorBytes(device));
  return usable - (partition.startBytes + partition.bytes);
}
