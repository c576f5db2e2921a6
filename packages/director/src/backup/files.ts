import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "@slipway/kernel/files";

/** The database is read through itself; uploads belong to tasks, and a restored Director resumes none. */
const NOT_KEPT = /^(database|uploads|director\.lock.*)$/;
/** Names of files that are still being written. */
const HALF = /^\..*\.(tmp|half)$/;

export interface Kept {
  readonly directories: readonly { readonly path: string; readonly mode: number }[];
  /** Below the state directory. */
  readonly files: readonly string[];
}

/** Lists what belongs to a backup: all of a state directory that is not known to be something else. */
export async function keptIn(stateDir: string): Promise<Kept> {
  const directories: { path: string; mode: number }[] = [];
  const files: string[] = [];
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(stateDir, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(below, entry.name);
      if (HALF.test(entry.name) || (below === "" && NOT_KEPT.test(entry.name))) continue;
      // Sockets, and links to files outside, are made again.
      if (entry.isFile()) files.push(path);
      if (!entry.isDirectory()) continue;
      directories.push({ path, mode: (await stat(join(stateDir, path))).mode & 0o777 });
      await walk(path);
    }
  };
  await walk("");
  return { directories, files };
}

export interface Content {
  readonly mode: number;
  readonly size: number;
  readonly sha256: string;
  /** Set for a small file; larger ones are read again when their turn comes. */
  readonly bytes?: Buffer;
}

const SMALL = 1 << 20;

/** Undefined when it is not there any more. A large file of ours never changes; a small one may be replaced. */
export async function contentOf(path: string): Promise<Content | undefined> {
  const seen = await ifThere(stat(path));
  if (seen === undefined) return undefined;
  const mode = seen.mode & 0o777;
  if (seen.size <= SMALL) {
    const bytes = await ifThere(readFile(path));
    return bytes && { mode, size: bytes.length, sha256: sha256(bytes), bytes };
  }
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of createReadStream(path, { highWaterMark: SMALL })) {
    hash.update(piece as Uint8Array);
    size += (piece as Uint8Array).length;
  }
  return { mode, size, sha256: hash.digest("hex") };
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
