import { constants } from "node:fs";
import { chmod, lchown, link, lutimes, mkdir, open, statfs, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { noDiskSpace } from "@slipway/cpi-sdk/errors";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { archiveBytes } from "@slipway/kernel/tar/file";
import { readTar, type TarEntry } from "@slipway/kernel/tar/read";
import { BadImage } from "../errors.ts";
import { EntryChecker, refuse } from "./entry-checker.ts";

export interface RootOrder {
  readonly imagePath: string;
  /** Must not exist. */
  readonly to: string;
  readonly packed: boolean;
  readonly signal: AbortSignal;
  readonly warn: (line: string) => void;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Writes a root file system below a new directory. Nothing is written through a link, because only directories that it
 * made itself are written into. Of an image with anything strange in it nothing is used: the caller removes the rest.
 */
export async function extractRoot(order: RootOrder): Promise<void> {
  const { to, signal } = order;
  await mkdir(to, { mode: 0o755 });
  const room = await roomAt(to);
  const entries = new EntryChecker();
  const ready: { path: string; entry: TarEntry }[] = [];
  let written = 0;
  try {
    const bytes = archiveBytes(order.imagePath, { gzip: order.packed, signal });
    for await (const { entry, body } of readTar(bytes, { refuse, end: "needed" })) {
      const found = entries.judge(entry);
      if (found.kind === "skipped") {
        order.warn(`left out of the root file system: ${found.why}`);
        continue;
      }
      if (found.name === "") continue;
      written += entry.size;
      if (written > room)
        throw noDiskSpace(
          `the root file system needs more than the ${Math.floor(room / 2 ** 20)} MiB that are free`,
        );
      for (const missing of found.missing) await mkdir(join(to, missing), { mode: 0o755 });
      await write(to, found.name, found.linkTo, found.again, entry, body);
      if (entry.type === "directory") ready.push({ path: join(to, found.name), entry });
      else if (entry.type !== "link") await own(join(to, found.name), entry);
    }
    // Last first: a directory may not be open to its owner, and its time changes with what is put in.
    for (const { path, entry } of ready.reverse()) await own(path, entry);
  } catch (error) {
    signal.throwIfAborted();
    if (systemCode(error) === "ENOSPC")
      throw noDiskSpace("there is no room for the root file system", { cause: error });
    throw reason(error);
  }
  entries.mustBeRoot();
}

async function write(
  to: string,
  name: string,
  linkTo: string,
  again: boolean,
  entry: TarEntry,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const path = join(to, name);
  if (entry.type === "directory") {
    if (!again) await mkdir(path, { mode: 0o755 });
  } else if (entry.type === "symlink") await symlink(entry.linkName, path);
  else if (entry.type === "link") await link(join(to, linkTo), path);
  else {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(path, flags, 0o600);
    try {
      for await (const piece of body) await file.writeFile(piece);
    } finally {
      await file.close();
    }
  }
}

/** Owners are kept by root only; an ordinary user's sandbox sees them all as its own. */
async function own(path: string, entry: TarEntry): Promise<void> {
  const { uid, gid, mode, mtime } = entry.attributes();
  if (isRoot()) await lchown(path, uid, gid);
  if (entry.type !== "symlink") await chmod(path, mode);
  await lutimes(path, mtime, mtime);
}

async function roomAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(path));
  return bavail * bsize;
}

function reason(error: unknown): unknown {
  if (error instanceof SlipwayError) return error;
  const code = systemCode(error);
  if (code === "Z_BUF_ERROR") return BadImage({ why: "it ends too early" }, { cause: error });
  if (code?.startsWith("Z_")) return BadImage({ why: "its compression is damaged" }, { cause: error });
  return error;
}
