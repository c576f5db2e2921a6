import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Exec } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";

/**
 * Puts all of these trees on their disks, so that no power cut leaves half of what a rename then gives its name. One
 * call for a whole file system: a package has thousands of files. Without such a program they are told one by one.
 */
export async function settleTrees(trees: readonly string[], exec: Exec): Promise<void> {
  const there: string[] = [];
  for (const tree of trees) if (await exists(tree)) there.push(tree);
  if (there.length === 0) return;
  const result = await exec("sync", ["--file-system", ...there]).catch(() => undefined);
  if (result?.code === 0) return;
  for (const tree of there) await settleTree(tree);
}

async function settleTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await settleTree(path);
    else if (entry.isFile()) await synced(path);
  }
  await synced(directory);
}

async function synced(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
