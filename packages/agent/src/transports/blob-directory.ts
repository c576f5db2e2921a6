import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { BlobTooLarge } from "./errors.ts";

/** Blobs that callers put and get over HTTPS. Both ways are streams: a blob may be larger than the agent's memory. */
export interface BlobDirectory {
  /** The whole blob is there when it resolves; nothing of it when it rejects. Replaces an older one. */
  put(id: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  get(id: string): Promise<{ readonly size: number; readonly content: Readable } | undefined>;
}

export const LARGEST_BLOB = 1 << 30;

/** Prefix of files of running uploads. No blob id has it: see `isBlobId`. */
const UNFINISHED = ".upload-";

/** One file name, and not one that means something else. */
export const isBlobId = (id: string): boolean =>
  id !== "" &&
  id !== "." &&
  id !== ".." &&
  !id.startsWith(UNFINISHED) &&
  !id.includes("/") &&
  !id.includes("\0") &&
  Buffer.byteLength(id) <= 255;

/** Upstream's place and mode: files named by id in `data/blobs`, 0640. */
export function blobDirectory(
  directory: string,
  random: Random,
  options: { readonly largest?: number } = {},
): BlobDirectory {
  const largest = options.largest ?? LARGEST_BLOB;
  let ready: Promise<void> | undefined;
  return {
    put: async (id, content) => {
      ready ??= prepare(directory);
      await ready.catch((error: unknown) => {
        ready = undefined;
        throw error;
      });
      const unfinished = join(directory, UNFINISHED + random.hex(8));
      try {
        await write(unfinished, content, largest);
        await rename(unfinished, join(directory, id));
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      await syncDirectory(directory);
    },
    get: async (id) => {
      const file = await ifThere(open(join(directory, id)));
      const found = await file?.stat();
      if (file !== undefined && found?.isFile())
        return { size: found.size, content: file.createReadStream() };
      await file?.close();
      return undefined;
    },
  };
}

/** Removes half-written files of a killed agent. */
async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const left = (await readdir(directory)).filter((name) => name.startsWith(UNFINISHED));
  await Promise.all(left.map((name) => rm(join(directory, name), { force: true })));
}

async function write(path: string, content: AsyncIterable<Uint8Array>, largest: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
  try {
    // The umask of the init system does not count.
    await file.chmod(0o640);
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      if (size > largest) throw BlobTooLarge({ limit: largest });
      await writeAll(file, chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
}
