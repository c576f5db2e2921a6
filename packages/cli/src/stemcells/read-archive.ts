import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { entryRules } from "@slipway/director/stemcells/entry-rules";
import { bounded, freeSpace } from "@slipway/director/stemcells/free-space";
import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import type { TarHeader } from "modern-tar";
import { unpackTar } from "modern-tar/fs";
import { StemcellUnreadable } from "./errors.ts";

const CHUNK = 1 << 18;

export interface ReadOptions {
  /** Where there is room to unpack it for a while. */
  readonly room: string;
  /** Most bytes it may unpack to; what the disk has left unless told otherwise. */
  readonly largest?: number | undefined;
  /** Every file is wanted, not only the manifest and the image. */
  readonly all?: boolean;
}

export interface UnpackedArchive {
  readonly dir: string;
  /** Of the files, in the order of the archive. */
  readonly names: readonly string[];
}

/**
 * Unpacks a stemcell for as long as `use` takes. One bad entry is enough to refuse it whole, and nothing stays behind.
 */
export async function readArchive<T>(
  file: string,
  options: ReadOptions,
  use: (unpacked: UnpackedArchive) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(options.room, ".slipway-stemcell-")).catch((cause: unknown) => {
    throw StemcellUnreadable({ file, why: `nothing can be unpacked in ${options.room}` }, { cause });
  });
  try {
    return await use({ dir, names: await unpack(file, dir, options) });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function unpack(file: string, dir: string, options: ReadOptions): Promise<readonly string[]> {
  const largest = options.largest ?? (await freeSpace(dir));
  const refused = (why: string) => StemcellUnreadable({ file, why });
  const tooBig = () =>
    refused(`it unpacks to more than the ${Math.floor(largest / 2 ** 20)} MiB that there is room for`);
  const rules = entryRules({ mostBytes: largest, tooBig, refused, keepAll: options.all ?? false });
  const names: string[] = [];
  const map = (header: TarHeader) => {
    const plain = rules.map(header);
    names.push(plain.name);
    return plain;
  };
  try {
    await pipeline(
      createReadStream(file, { highWaterMark: CHUNK }),
      createGunzip({ chunkSize: CHUNK }),
      bounded(largest, tooBig),
      unpackTar(dir, { filter: rules.filter, map, strict: true, fmode: 0o600, dmode: 0o700 }),
    );
    return names;
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    throw StemcellUnreadable({ file, why: reason(error) }, { cause: error });
  }
}

function reason(error: unknown): string {
  const code = systemCode(error);
  if (code === "ENOENT") return "there is no such file";
  if (code === "ENOSPC") return "there is no room to unpack it";
  if (code === "Z_BUF_ERROR") return "it ends too early, as a download that was cut off does";
  if (code?.startsWith("Z_")) return "it is not gzip, or damaged";
  return messageTrail(error);
}
