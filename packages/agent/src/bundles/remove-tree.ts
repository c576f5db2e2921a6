import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";

/** Removes a directory with all in it, also what its owner may not write into: Go's module cache is made that way. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!["EACCES", "EPERM"].includes(systemCode(error) ?? "")) throw error;
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(directory: string): Promise<void> {
  await ifThere(chmod(directory, 0o700));
  for (const entry of (await ifThere(readdir(directory, { withFileTypes: true }))) ?? [])
    if (entry.isDirectory()) await makeWritable(join(directory, entry.name));
}
