import { chmod, mkdir } from "node:fs/promises";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { DeviceNotFound, ForeignContent, MountConflict, NoEphemeralDisk } from "../../disk-errors.ts";
import type { EphemeralRequest } from "../../disks.ts";
import { type BlockDevice, blockDevice } from "./block-device.ts";
import { inspect } from "./contents.ts";
import type { DiskContext } from "./context.ts";
import { type EphemeralPlace, ephemeralOnRoot, ownPartitionsOnRoot } from "./ephemeral-on-root.ts";
import { makeFileSystem, mayWrite } from "./format.ts";
import { FormatMarker } from "./format-marker.ts";
import { growFileSystem, releaseGrowMount } from "./grow.ts";
import { targetOf } from "./hint-target.ts";
import { kernelPartitions, partitionDevice } from "./kernel-partitions.ts";
import { locateDevice } from "./locate.ts";
import { mountDevice } from "./mounting.ts";
import { mountTable } from "./mounts.ts";
import {
  createTable,
  isSwap,
  type NewPartition,
  OWN_PREFIX,
  type PartitionTable,
  readTable,
} from "./partition.ts";
import { refusal } from "./prepare.ts";
import { attribute } from "./sysfs.ts";

const MIB = 1024 * 1024;
const LONGEST_PREFIX = 32;
const DATA_MODE = 0o750;

/**
 * `/var/vcap/data` and swap on the ephemeral disk. Its partitions carry the agent's id in their names, so that a table
 * found is either this VM's, kept, or that of a VM before it, erased (sfdisk wipes the old signatures first).
 */
export async function setUpEphemeral(context: DiskContext, request: EphemeralRequest): Promise<void> {
  await mkdir(request.target, { recursive: true, mode: DATA_MODE });
  if (context.config.SkipDiskSetup) return;
  await releaseGrowMount(context);
  const { device, partitions } = await placeFor(context, request);
  const data = partitions.at(-1);
  if (data === undefined)
    throw NoEphemeralDisk({ why: `${device.path} has no partition after partitioning` });
  const swap = partitions.find(isSwap);
  if (swap !== undefined) await enableSwap(context, await partitionDevice(context, device, swap));
  await mountData(context, await partitionDevice(context, device, data), request.target);
}

/**
 * A disk of its own, or the free space of the disk the machine runs from where the configuration permits it. What was
 * made there once is used from then on, also if the other disk should appear.
 */
async function placeFor(context: DiskContext, request: EphemeralRequest): Promise<EphemeralPlace> {
  const onRoot = context.config.CreatePartitionIfNoEphemeralDisk === true;
  const prefix = ephemeralPrefix(request.agentId);
  const there = onRoot ? await ownPartitionsOnRoot(context, prefix) : undefined;
  if (there !== undefined) return there;
  const device = await ephemeralDevice(context, request).catch((error: unknown) => {
    if (!onRoot || !NoEphemeralDisk.is(error)) throw error;
    context.log.warn(`${messageTrail(error)}; the free space of the root disk is used instead`);
    return undefined;
  });
  if (device !== undefined)
    return { device, partitions: (await tableOf(context, device, request)).partitions };
  return await ephemeralOnRoot(context, prefix, (bytes) => layout(context, bytes, "the root disk", request));
}

async function ephemeralDevice(context: DiskContext, request: EphemeralRequest): Promise<BlockDevice> {
  if (request.hint === undefined) throw NoEphemeralDisk({ why: "the settings name none" });
  try {
    return await blockDevice(
      context,
      await locateDevice(context, targetOf("", request.hint), request.signal),
    );
  } catch (cause) {
    if (DeviceNotFound.is(cause)) throw NoEphemeralDisk({ why: errorText(cause) }, { cause });
    throw cause;
  }
}

/** The name's head tells whose disk it is: that of another agent id is a new VM's to erase. */
export function ephemeralPrefix(agentId: string): string {
  // It becomes part of a script for sfdisk.
  return `${OWN_PREFIX}${agentId}`.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, LONGEST_PREFIX);
}

async function tableOf(
  context: DiskContext,
  device: BlockDevice,
  request: EphemeralRequest,
): Promise<PartitionTable> {
  const contents = await inspect(context, device);
  const prefix = ephemeralPrefix(request.agentId);
  const marker = new FormatMarker(context.paths, `ephemeral of ${request.agentId}`);
  const names = contents.kind === "table" ? contents.table.partitions.map((partition) => partition.name) : [];
  if (contents.kind === "table" && names.length > 0 && names.every((name) => name.startsWith(`${prefix}-`))) {
    await marker.end();
    return contents.table;
  }
  // A persistent disk that is attached where the ephemeral one should be has this very name.
  const ofOtherAgent =
    names.length > 0 && names.every((name) => name.startsWith(OWN_PREFIX) && name !== "bosh-partition-0");
  const interrupted = contents.kind === "unknown" && !contents.foreign && (await marker.covers(device));
  if (contents.kind !== "zeros" && !ofOtherAgent && !interrupted) {
    throw refusal(device, contents, "an empty disk or an ephemeral disk of an agent");
  }
  await mustNotBeMounted(context, device, request.target);
  await mayWrite(context, device, "partitioning");
  await marker.begin(device);
  if (ofOtherAgent) context.log.info(`erasing ${device.path}: it was the ephemeral disk of another agent`);
  if (contents.kind !== "zeros") {
    await mustRun(context.exec, `erasing ${device.path}`, "wipefs", ["--force", "--all", device.path]);
  }
  await createTable(context, device.path, await layout(context, device.bytes, device.path, request));
  const made = await readTable(context, device.path);
  if (made === undefined) throw refusal(device, await inspect(context, device), "the table just written");
  await marker.end();
  return made;
}

async function layout(
  context: DiskContext,
  bytes: number,
  where: string,
  request: EphemeralRequest,
): Promise<readonly NewPartition[]> {
  const prefix = ephemeralPrefix(request.agentId);
  const wanted = request.swapMib ?? Math.floor(Math.min(await memoryBytes(context), bytes / 2) / MIB);
  const room = Math.floor(bytes / MIB) - 2;
  if (wanted >= room) {
    throw NoEphemeralDisk({
      why: `${wanted} MiB of swap leave no room for data on ${where} with ${room} MiB`,
    });
  }
  const data: NewPartition = { name: `${prefix}-${wanted > 0 ? 1 : 0}`, use: "linux" };
  return wanted > 0 ? [{ name: `${prefix}-0`, use: "swap", mib: wanted }, data] : [data];
}

async function memoryBytes(context: DiskContext): Promise<number> {
  const info = (await attribute(context.paths.system("proc", "meminfo"))) ?? "";
  return Number(/^MemTotal:\s+(\d+) kB/m.exec(info)?.[1] ?? 0) * 1024;
}

async function mustNotBeMounted(context: DiskContext, device: BlockDevice, target: string): Promise<void> {
  const numbers = new Set([device.number, ...(await kernelPartitions(device))]);
  const mounted = (await mountTable(context.paths)).find((mount) => numbers.has(mount.number));
  if (mounted === undefined) return;
  throw MountConflict({
    source: device.path,
    target,
    found: `it is not erased, ${mounted.target} is mounted from it`,
  });
}

async function enableSwap(context: DiskContext, device: BlockDevice): Promise<void> {
  const active = (await attribute(context.paths.system("proc", "swaps"))) ?? "";
  if (active.split("\n").some((line) => line.split(/\s/)[0] === device.path)) return;
  const contents = await inspect(context, device);
  const isSwap = contents.kind === "unknown" && contents.found.startsWith("swap ");
  if (!isSwap) {
    if (contents.kind === "unknown" && contents.foreign) throw refusal(device, contents, "swap or nothing");
    await mayWrite(context, device, "making swap");
    await mustRun(context.exec, `making swap on ${device.path}`, "mkswap", [device.path]);
  }
  await mustRun(context.exec, `using ${device.path} as swap`, "swapon", [device.path]);
}

/** The partition is in a table with this agent's name: what is no file system there is an mkfs that was interrupted. */
async function mountData(context: DiskContext, device: BlockDevice, target: string): Promise<void> {
  if (
    (await mountTable(context.paths)).some(
      (mount) => mount.number === device.number && mount.target === target,
    )
  )
    return;
  const contents = await inspect(context, device);
  if (contents.kind === "file-system" && contents.superblock.complete) {
    await growFileSystem(context, device, contents.superblock);
  } else if (contents.kind === "unknown" && contents.foreign) {
    throw ForeignContent({ device: device.path, found: contents.found, wanted: "ext4 or nothing" });
  } else {
    await mayWrite(context, device, "making an ext4 file system");
    await makeFileSystem(context, device, "ext4");
  }
  await mountDevice(context, device.path, target, []);
  await chmod(target, DATA_MODE);
}
