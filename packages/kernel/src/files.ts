import { lstat } from "node:fs/promises";
import { systemCode } from "./errors.ts";

/** What the work of a file system comes to; undefined when the thing is not there. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Of a path whose directory may be missing too, or no directory. A link is there wherever it leads. */
export const exists = async (path: string): Promise<boolean> => (await ifThere(lstat(path))) !== undefined;

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
