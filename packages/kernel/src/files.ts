import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "./errors.ts";

/** Returns the result of a file system call, or undefined if the file does not exist. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Tells whether a path exists. Its directory may be missing, or no directory. A link exists wherever it leads. */
export const exists = async (path: string): Promise<boolean> => (await ifThere(lstat(path))) !== undefined;

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");

/**
 * A directory, with all above it. Node's own way never ends where a directory above is mounted and was deleted: it is
 * there, and nothing can be made in it.
 */
export async function makeDirectories(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectories(dirname(path));
    // Somebody else may have made it in this moment.
    await mkdir(path).catch((second: unknown) => {
      if (systemCode(second) !== "EEXIST") throw second;
    });
  }
}
