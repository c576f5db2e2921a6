import { readdir, readFile } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";

/** Attributes come and go with their devices; one that cannot be read says nothing. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ENODEV", "ENXIO", "EINVAL", "EACCES", "EIO", "EISDIR"]);

/** The text of an attribute, without the newline; undefined when it is not there. */
export async function attribute(path: string): Promise<string | undefined> {
  return (await rawAttribute(path))?.toString("utf8").trim();
}

export async function rawAttribute(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (ABSENT.has(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** The names in a directory, sorted so that a run can be repeated; none when it is not there. */
export async function entries(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (ABSENT.has(systemCode(error) ?? "")) return [];
    throw error;
  }
}
