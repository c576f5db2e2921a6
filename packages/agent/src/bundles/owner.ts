import { chmod, lchown, lstat, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { exists } from "@slipway/kernel/files";

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Prefix of entries that get their name once they are complete. No job or package has a name with a leading dot. */
export const UNFINISHED = ".unfinished-";

/**
 * Returns the owner for files below a directory: the owner of the directory. The start of the agent gives the directory
 * to root:vcap if these users exist; in a sandbox of an ordinary user it stays with that user. Undefined if new files
 * already have this owner.
 */
export async function ownerLike(directory: string): Promise<FileOwner | undefined> {
  const { uid, gid } = await lstat(directory);
  return uid === process.geteuid?.() && gid === process.getegid?.() ? undefined : { uid, gid };
}

/** Makes a directory that is missing; it has mode and owner from the moment that it has its name. */
export async function makeOwned(path: string, mode: number, owner: FileOwner | undefined): Promise<void> {
  if (await exists(path)) return;
  const unfinished = join(dirname(path), `${UNFINISHED}${basename(path)}`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  if (owner !== undefined) await lchown(unfinished, owner.uid, owner.gid);
  await chmod(unfinished, mode);
  await rename(unfinished, path);
}
