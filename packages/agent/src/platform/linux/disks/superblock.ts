import { type FileHandle, open } from "node:fs/promises";

/** Facts about a file system from its first block. */
export interface Superblock {
  readonly type: "ext4" | "xfs";
  /** Bytes of the device that the file system spans. */
  readonly bytes: number;
  /** False while `mkfs.xfs` is at work. For ext4 the superblock is what mke2fs writes last, so it is always true. */
  readonly complete: boolean;
  /** False if the file system was certainly never mounted. */
  readonly everMounted: boolean;
}

const EXT_MAGIC = 0xef53;
const INCOMPAT_JOURNAL_DEVICE = 0x8;
const INCOMPAT_64BIT = 0x80;
const READ_ONLY_METADATA_CSUM = 0x400;
const CHECKSUM_AT = 0x3fc;

export async function readSuperblock(path: string): Promise<Superblock | undefined> {
  const head = await readHead(path);
  return xfs(head) ?? ext4(head.subarray(1024));
}

async function readHead(path: string): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    return await readFully(handle, 0, 4096);
  } finally {
    await handle.close();
  }
}

/**
 * Recognizes an ext4 without blkid: its superblock proves itself by its checksum, and the place before it, where
 * partition tables and others have theirs, is empty.
 */
export async function provenExt4(path: string): Promise<Superblock | undefined> {
  const head = await readHead(path);
  const block = head.subarray(1024);
  const found = ext4(block);
  if (found === undefined || head.subarray(0, 1024).some((byte) => byte !== 0)) return undefined;
  const isDevice = (block.readUInt32LE(0x60) & INCOMPAT_JOURNAL_DEVICE) !== 0;
  const isSummed = (block.readUInt32LE(0x64) & READ_ONLY_METADATA_CSUM) !== 0;
  if (isDevice || !isSummed) return undefined;
  const sum = crc32c(block.subarray(0, CHECKSUM_AT));
  return sum === block.readUInt32LE(CHECKSUM_AT) ? found : undefined;
}

/** Computes CRC-32C as ext4 does: starts with all ones, and does not invert the result. */
function crc32c(bytes: Uint8Array): number {
  let sum = 0xffff_ffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f6_3b78 : 0);
  }
  return sum >>> 0;
}

function ext4(block: Buffer): Superblock | undefined {
  if (block.length < 1024 || block.readUInt16LE(0x38) !== EXT_MAGIC) return undefined;
  const wide = (block.readUInt32LE(0x60) & INCOMPAT_64BIT) !== 0;
  const blocks = block.readUInt32LE(0x4) + (wide ? block.readUInt32LE(0x150) * 2 ** 32 : 0);
  const lastMount = block.readUInt32LE(0x2c);
  return {
    type: "ext4",
    bytes: blocks * 1024 * 2 ** block.readUInt32LE(0x18),
    complete: true,
    everMounted: lastMount !== 0,
  };
}

function xfs(head: Buffer): Superblock | undefined {
  if (head.length < 512 || head.toString("latin1", 0, 4) !== "XFSB") return undefined;
  const bytes = Number(head.readBigUInt64BE(8)) * head.readUInt32BE(4);
  return { type: "xfs", bytes, complete: head.readUInt8(126) === 0, everMounted: true };
}

/** Reads exactly that much, or as much as there is before the end. */
export async function readFully(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
