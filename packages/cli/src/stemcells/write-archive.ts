import { createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { fileDigest } from "@slipway/engine/stemcells/digest";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { StemcellNotWritten } from "./errors.ts";

export interface WrittenArchive {
  readonly size: number;
  /** Digest of the whole file, as `upload-stemcell --sha1` takes it. */
  readonly sha1: string;
}

/** A file of the archive: its text, or where its content is. */
export type StemcellFile =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly path: string };

/**
 * A gzipped tar whose bytes depend on the names and contents of its files alone. It appears under its name when it is
 * whole; until then, and when anything fails, what was there stays.
 */
export async function writeArchive(
  to: string,
  files: readonly StemcellFile[],
  { level = 6 }: { readonly level?: number } = {},
): Promise<WrittenArchive> {
  const partial = join(dirname(to), `.${basename(to)}.${systemRandom.hex(6)}.partial`);
  try {
    const flags = { flags: "wx", mode: 0o644 };
    await pipeline(tarBytes(files.map(input), 0), createGzip({ level }), createWriteStream(partial, flags));
    await sync(partial);
    const written = { size: (await stat(partial)).size, sha1: await fileDigest(partial, "sha1") };
    await rename(partial, to);
    await syncDirectory(dirname(to));
    return written;
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof SlipwayError) throw error;
    throw StemcellNotWritten({ file: to, why: reason(error) }, { cause: error });
  }
}

const input = (file: StemcellFile): TarInput =>
  "text" in file ? { ...file, type: "text", mode: 0o644 } : { ...file, type: "file", mode: 0o644 };

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function reason(error: unknown): string {
  const code = systemCode(error);
  if (code === "ENOENT") return "its directory does not exist";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "writing there is not allowed";
  if (code === "ENOSPC") return "the disk is full";
  return messageTrail(error);
}
