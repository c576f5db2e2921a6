import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { LARGEST_STORE_FILE } from "@slipway/protocol/agent/store-file";
import { StoreFileUnusable } from "./errors.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Writes a text file under a directory whose owners may have put links anywhere. `path` is relative and plain. */
export async function writeStoreText(root: string, path: string, content: string): Promise<void> {
  await inDirectoryOf(root, path, true, async (directory, name) => {
    await writeFileAtomic(inside(directory, name), content);
  });
}

export async function readStoreText(root: string, path: string): Promise<string> {
  return await inDirectoryOf(root, path, false, async (directory, name) => {
    // Without waiting: a pipe would hold the agent up until somebody writes to it.
    const file = await open(inside(directory, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return await textOf(file, path);
    } finally {
      await file.close();
    }
  });
}

async function textOf(file: FileHandle, path: string): Promise<string> {
  if (!(await file.stat()).isFile()) throw StoreFileUnusable({ path, why: "it is not a plain file" });
  const buffer = Buffer.alloc(LARGEST_STORE_FILE + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > LARGEST_STORE_FILE)
    throw StoreFileUnusable({ path, why: `it is larger than ${LARGEST_STORE_FILE >> 20} MiB` });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, length));
  } catch (cause) {
    throw StoreFileUnusable({ path, why: "it is not UTF-8 text" }, { cause });
  }
}

/**
 * Goes down to the directory of a file, name by name, each opened beneath the one before it: what a job puts in the way
 * meanwhile cannot lead out of the disk. The kernel offers open directories under `/proc/self/fd`.
 */
async function inDirectoryOf<T>(
  root: string,
  path: string,
  make: boolean,
  use: (directory: FileHandle, name: string) => Promise<T>,
): Promise<T> {
  const names = path.split("/");
  const last = names.pop() ?? "";
  let at = await open(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const name of names) {
      const place = inside(at, name);
      if (make) await mkdir(place, 0o755).catch(unlessThere);
      const next = await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await at.close();
      at = next;
    }
    return await use(at, last);
  } catch (error) {
    const why = WORDS[systemCode(error) ?? ""];
    throw why === undefined ? error : StoreFileUnusable({ path, why }, { cause: error });
  } finally {
    await at.close();
  }
}

const inside = (directory: FileHandle, name: string) => `/proc/self/fd/${directory.fd}/${name}`;

function unlessThere(error: unknown): void {
  if (systemCode(error) !== "EEXIST") throw error;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ELOOP: "it is a link, and links are not followed",
  ENOTDIR: "a part of its path is no directory, or a link, which is not followed",
  EISDIR: "it is a directory",
  ENXIO: "it is not a plain file",
  EROFS: "the disk is mounted read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};
