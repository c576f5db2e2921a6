import { readdir, rename, rm } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { exists, ifThere } from "@slipway/kernel/files";
import type { LocalCloud } from "./local-cloud.ts";
import { asOwner } from "./namespaces.ts";

export const namesIn = async (path: string): Promise<string[]> => (await ifThere(readdir(path))) ?? [];

/** Removes a tree, including files that a sandbox of an ordinary user left with other modes or owners. */
export async function removeTree(cloud: LocalCloud, path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (cloud.isRoot || !["EACCES", "EPERM"].includes(systemCode(error) ?? "")) throw error;
    const [program, ...args] = await asOwner(cloud, ["rm", "-rf", "--", path]);
    await mustRun(cloud.exec, `removing ${path}`, program, args);
  }
}

export const DELETED = ".deleted";
export const PARTIAL = ".partial";

/** Lists the names of complete things, without those that are being made or removed. */
export const wholeNames = async (path: string): Promise<string[]> =>
  (await namesIn(path)).filter((name) => !name.includes("."));

/**
 * Renames the thing before it is removed, so that a crash leaves nothing that looks whole. Finishes what a crash has
 * left.
 */
export async function discard(cloud: LocalCloud, path: string): Promise<void> {
  if (await exists(path)) {
    // What an earlier crash left under that name goes first.
    await removeTree(cloud, `${path}${DELETED}`);
    await rename(path, `${path}${DELETED}`);
  }
  await removeTree(cloud, `${path}${DELETED}`);
  await removeTree(cloud, `${path}${PARTIAL}`);
}
