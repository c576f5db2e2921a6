import { constants } from "node:fs";
import { type FileHandle, lstat, open, readFile, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Replaces a file of the system as a whole, with exactly this mode (the umask has no say) and owner from its first
 * moment. A link there is replaced, never followed. A file that a container runtime has mounted cannot be replaced;
 * it is written in place.
 */
export async function replaceFile(path: string, content: string, mode: number, owner?: Owner): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${systemRandom.hex(6)}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    await fill(file, content, mode, owner);
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    if (systemCode(error) !== "EBUSY") throw error;
    const flags = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
    await fill(await open(path, flags), content, undefined, undefined);
  }
}

async function fill(file: FileHandle, content: string, mode: number | undefined, owner: Owner | undefined) {
  try {
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
    if (mode !== undefined) await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Resolves to whether it had to be written. */
export async function writeIfChanged(path: string, content: string, mode: number): Promise<boolean> {
  const before = await readFile(path, "utf8").catch(() => undefined);
  if (before === content) return false;
  await replaceFile(path, content, mode);
  return true;
}

/** The permissions a file has, or `otherwise` when there is none. */
export async function modeOf(path: string, otherwise: number): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ? stats.mode & 0o777 : otherwise;
}
