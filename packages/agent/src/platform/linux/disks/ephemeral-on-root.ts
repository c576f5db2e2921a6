import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import { ForeignContent, NoEphemeralDisk } from "../../disk-errors.ts";
import { type BlockDevice, identityOf, sectorBytes } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { appendPartitions, type NewPartition, type Partition, readTable } from "./partition.ts";
import { type RootPartition, rootPartition } from "./root-partition.ts";

const MIB = 1024 * 1024;
/** Upstream's. */
const LEAST_BYTES = 1024 * MIB;

/** The partitions for swap and data, and the disk they are on. */
export interface EphemeralPlace {
  readonly device: BlockDevice;
  readonly partitions: readonly Partition[];
}

/**
 * Ephemeral data of a VM whose only disk is the one it runs from: partitions in the free space behind the root
 * partition. Nothing that is there is moved or erased.
 */
export async function ephemeralOnRoot(
  context: DiskContext,
  prefix: string,
  layout: (bytes: number) => Promise<readonly NewPartition[]>,
): Promise<EphemeralPlace> {
  const root = await rootPartition(context);
  if ("why" in root) throw NoEphemeralDisk({ why: root.why });
  if (root.behind.length > 0) {
    if (await areOurs(context, root, prefix)) return { device: root.disk, partitions: root.behind };
    throw ForeignContent({
      device: root.disk.path,
      found: `partitions of others behind the root partition (${root.behind.map((one) => one.name || "unnamed").join(", ")})`,
      wanted: "free space, or this agent's partitions",
    });
  }
  const { start, bytes } = await freeSpace(root);
  if (bytes < LEAST_BYTES) {
    const why = `Insufficient remaining disk space (${Math.max(0, bytes)}B) for ephemeral partition (min: ${LEAST_BYTES}B)`;
    throw NoEphemeralDisk({ why });
  }
  await mustBeFree(context, root.disk, start);
  const wanted = await layout(bytes);
  await writeNote(context, root.disk, prefix, start);
  context.log.info(`making ephemeral partitions on ${root.disk.path}, behind the root partition`);
  const named = root.table.label === "gpt";
  await appendPartitions(context, root.disk, { start, named }, wanted);
  const made = (await readTable(context, root.disk.path))?.partitions.filter(
    (one) => one.startBytes >= start,
  );
  if (made?.length !== wanted.length)
    throw NoEphemeralDisk({ why: `${root.disk.path} does not have the partitions just made` });
  return { device: root.disk, partitions: made };
}

/** Returns the partitions that this agent made earlier on the root disk, if any. */
export async function ownPartitionsOnRoot(
  context: DiskContext,
  prefix: string,
): Promise<EphemeralPlace | undefined> {
  const root = await rootPartition(context);
  if ("why" in root || root.behind.length === 0 || !(await areOurs(context, root, prefix))) return undefined;
  return { device: root.disk, partitions: root.behind };
}

/** Recognizes our partitions by name. A table without names is proved by the note written before it was changed. */
async function areOurs(context: DiskContext, root: RootPartition, prefix: string): Promise<boolean> {
  if (root.table.label === "gpt") return root.behind.every((one) => one.name.startsWith(`${prefix}-`));
  const [first] = root.behind;
  return first !== undefined && (await noteSays(context, root.disk, prefix, first.startBytes));
}

async function freeSpace({ disk, partition }: RootPartition): Promise<{ start: number; bytes: number }> {
  const start = Math.ceil((partition.startBytes + partition.bytes) / MIB) * MIB;
  // The second GPT takes 33 sectors at the end.
  const end = disk.bytes - 34 * (await sectorBytes(disk));
  return { start, bytes: Math.floor((end - start) / MIB) * MIB };
}

/** Refuses a file system in space that no table shows, since a new partition there would erase it. */
async function mustBeFree(context: DiskContext, disk: BlockDevice, start: number): Promise<void> {
  const args = ["-p", "-o", "value", "-s", "TYPE", "-O", String(start), disk.path];
  const found = (await context.exec("blkid", args)).stdout.trim();
  if (found === "") return;
  throw ForeignContent({
    device: disk.path,
    found: `${found} in the space behind the root partition`,
    wanted: "nothing",
  });
}

const notePath = (context: DiskContext) => join(context.paths.boshDir, "root_partitions.json");

const noteOf = async (disk: BlockDevice, prefix: string, start: number) =>
  JSON.stringify({ prefix, start, identity: await identityOf(disk) });

async function writeNote(context: DiskContext, disk: BlockDevice, prefix: string, start: number) {
  await mkdir(context.paths.boshDir, { recursive: true });
  await writeFileAtomic(notePath(context), await noteOf(disk, prefix, start));
}

async function noteSays(context: DiskContext, disk: BlockDevice, prefix: string, start: number) {
  const noted = await ifThere(readFile(notePath(context), "utf8"));
  return noted !== undefined && noted === (await noteOf(disk, prefix, start));
}
