import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { damageOf, extract } from "@slipway/engine/stemcells/extract";
import { freeSpace } from "@slipway/engine/stemcells/free-space";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { NoSuchStemcell, StemcellUnreadable } from "./errors.ts";

export interface ReadOptions {
  /** Directory in which the archive is unpacked while it is read. */
  readonly scratchDir: string;
  /** Maximum unpacked size in bytes; default: the free space of the disk. */
  readonly largest?: number | undefined;
  /** Every file is wanted, not only the manifest and the image. */
  readonly all?: boolean;
}

export interface UnpackedArchive {
  readonly dir: string;
  /** Names of the files, in the order of the archive. */
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
  const dir = await mkdtemp(join(options.scratchDir, ".slipway-stemcell-")).catch((cause: unknown) => {
    throw StemcellUnreadable({ file, why: `nothing can be unpacked in ${options.scratchDir}` }, { cause });
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
    refused(`it unpacks to more than the ${Math.floor(largest / 2 ** 20)} MiB that are free there`);
  try {
    return await extract(file, dir, { mostBytes: largest, tooBig, refused, keepAll: options.all ?? false });
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    if (systemCode(error) === "ENOENT") throw NoSuchStemcell({ file }, { cause: error });
    throw StemcellUnreadable({ file, why: reason(error) }, { cause: error });
  }
}

function reason(error: unknown): string {
  return systemCode(error) === "ENOSPC" ? "the disk is full" : damageOf(error);
}
