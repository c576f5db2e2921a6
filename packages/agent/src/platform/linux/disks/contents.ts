import { open } from "node:fs/promises";
import { CommandFailed } from "@slipway/kernel/exec";
import { DeviceGone } from "../../disk-errors.ts";
import type { BlockDevice } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { GROW_SLACK, type PartitionTable, readTable } from "./partition.ts";
import { provenExt4, readFully, readSuperblock, type Superblock } from "./superblock.ts";

const MIB = 1024 * 1024;
const EDGE = 4 * MIB;
const SAMPLE = 64 * 1024;
const SAMPLES = 64;
/** Offsets of the second superblocks of btrfs and ext4, which remain if only the beginning was zeroed. */
const TELLING = [64 * MIB, 128 * MIB];

const ZEROS = Buffer.alloc(MIB);

export type Contents =
  /** Nothing known to blkid, and zeros wherever we looked. */
  | { readonly kind: "zeros" }
  | { readonly kind: "file-system"; readonly superblock: Superblock }
  | { readonly kind: "table"; readonly table: PartitionTable }
  /** `foreign`: blkid names something we never write. Otherwise it may be a mkfs of ours that was interrupted. */
  | { readonly kind: "unknown"; readonly found: string; readonly foreign: boolean };

/** Inspects the content of a device. Only what can be read counts, not records about it. */
export async function inspect(context: DiskContext, device: BlockDevice): Promise<Contents> {
  const proven = await provenExt4(device.path);
  // One that fills its device: before anything is changed blkid looks as well.
  if (proven !== undefined && Math.abs(device.bytes - proven.bytes) <= GROW_SLACK)
    return { kind: "file-system", superblock: proven };
  const probe = await context.exec("blkid", ["-p", "-o", "export", device.path]);
  const facts = exported(probe.stdout);
  if (probe.code === 0 && facts.size > 0) return recognised(context, device, facts);
  if (probe.code === 8) {
    return { kind: "unknown", found: "signatures of several file systems at once", foreign: true };
  }
  // 2 means "nothing found", and also "cannot be read"; so the reading that follows must succeed.
  if (probe.code !== 2 && probe.code !== 0) {
    const stderr = probe.stderr.trim() || "no message";
    throw CommandFailed({ doing: `looking at ${device.path}`, program: "blkid", code: probe.code, stderr });
  }
  const offset = await firstNonZero(device);
  if (offset === undefined) return { kind: "zeros" };
  return { kind: "unknown", found: `data of no known kind (at byte ${offset})`, foreign: false };
}

async function recognised(
  context: DiskContext,
  device: BlockDevice,
  facts: ReadonlyMap<string, string>,
): Promise<Contents> {
  const type = facts.get("TYPE");
  const tableType = facts.get("PTTYPE");
  if (type !== undefined && tableType !== undefined) {
    return {
      kind: "unknown",
      found: `both a ${type} signature and a ${tableType} partition table`,
      foreign: true,
    };
  }
  if (type === "ext4" || type === "xfs") {
    const superblock = await readSuperblock(device.path);
    if (superblock?.type === type) return { kind: "file-system", superblock };
    return { kind: "unknown", found: `a damaged ${type} file system`, foreign: true };
  }
  if (type !== undefined) {
    const label = facts.get("LABEL");
    const called = label === undefined ? "" : ` called "${label}"`;
    return {
      kind: "unknown",
      found: `${type} (${facts.get("USAGE") ?? "unknown use"})${called}`,
      foreign: true,
    };
  }
  // A protective MBR alone is a GPT that was cut off: half written, or of a disk that was larger.
  if (tableType === "PMBR") {
    return {
      kind: "unknown",
      found: "a GPT that is incomplete or was made for a larger disk",
      foreign: false,
    };
  }
  if (tableType !== undefined) {
    const table = await readTable(context, device.path);
    if (table !== undefined) return { kind: "table", table };
    return { kind: "unknown", found: `a ${tableType} partition table that cannot be read`, foreign: true };
  }
  return { kind: "unknown", found: `something blkid describes as ${[...facts].join(" ")}`, foreign: true };
}

function exported(text: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    const key = line.slice(0, Math.max(0, equals));
    // These tell of the table that the device is an entry of, not of what is on it.
    if (key === "" || key === "DEVNAME" || key.startsWith("PART_ENTRY_")) continue;
    facts.set(key, line.slice(equals + 1).replaceAll("\\", ""));
  }
  return facts;
}

/**
 * Looks at both ends, where every file system, table and volume manager has its headers, and at samples across the
 * whole device, since a disk with a wiped header may still hold data.
 */
export async function firstNonZero(
  device: BlockDevice,
  start = 0,
  bytes = device.bytes,
): Promise<number | undefined> {
  const handle = await open(device.path, "r");
  try {
    for (const [from, length] of ranges(bytes)) {
      const end = start + from + length;
      for (let at = start + from; at < end; at += MIB) {
        const wanted = Math.min(MIB, end - at);
        const chunk = await readFully(handle, at, wanted);
        if (chunk.length < wanted) {
          throw DeviceGone({
            device: device.path,
            why: `it ends at byte ${at + chunk.length} while being read`,
          });
        }
        if (!chunk.equals(ZEROS.subarray(0, wanted))) return at + chunk.findIndex((byte) => byte !== 0);
      }
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

function* ranges(bytes: number): Generator<readonly [start: number, length: number]> {
  if (bytes <= 2 * EDGE) return yield [0, bytes];
  yield [0, EDGE];
  yield [bytes - EDGE, EDGE];
  for (const at of TELLING) if (at + SAMPLE <= bytes) yield [at, SAMPLE];
  const step = Math.floor(bytes / (SAMPLES + 1) / 4096) * 4096;
  for (let n = 1; n <= SAMPLES; n++) if (n * step + SAMPLE <= bytes) yield [n * step, SAMPLE];
}
