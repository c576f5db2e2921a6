import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemRandom } from "./random.ts";

/**
 * Writes a file so that a reader, or the next start after a power cut, sees the old content or the new, never less.
 * When it resolves the new content is on disk.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  await replace(path, content, mode, true);
  await syncDirectory(dirname(path));
}

/** The same for what may be lost with the power: a reader sees the old content or the new, and nobody waits for the disk. */
export const replaceFile = (path: string, content: string | Uint8Array, mode = 0o600): Promise<void> =>
  replace(path, content, mode, false);

async function replace(
  path: string,
  content: string | Uint8Array,
  mode: number,
  durable: boolean,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${systemRandom.hex(6)}.tmp`);
  try {
    await withFile(
      temporary,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      mode,
      async (file) => {
        await file.writeFile(content);
        if (durable) await file.sync();
      },
    );
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** A rename or unlink is durable only once its directory is. */
export async function syncDirectory(directory: string): Promise<void> {
  await withFile(directory, constants.O_RDONLY, undefined, (handle) => handle.sync());
}

async function withFile<T>(
  path: string,
  flags: number,
  mode: number | undefined,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags, mode);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
