import { readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory, writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { makeDirectories } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { Log } from "../log.ts";
import { StateNotWritten } from "./errors.ts";

export interface StateTools {
  readonly random: Random;
  readonly log: Log;
}

/**
 * The content of a state file; undefined when there is none. A file that cannot be what was written (torn by a power
 * cut, empty, somebody else's) is put aside, where an operator finds it, and counts as none.
 */
export async function readState<T>(
  path: string,
  parse: (text: string) => T,
  tools: StateTools,
): Promise<T | undefined> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    await putAside(path, messageTrail(error), tools);
    return undefined;
  }
}

export async function putAside(path: string, why: string, tools: StateTools): Promise<void> {
  const aside = `${path}.torn-${tools.random.hex(4)}`;
  try {
    await rename(path, aside);
    tools.log.warn(`${path} is not used: ${why}; kept as ${aside}`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    tools.log.warn(`${path} is not used: ${why}; it could not be moved away: ${messageTrail(error)}`);
  }
}

/** Whole or not at all, readable by its owner only. */
export async function writeState(path: string, content: string, mode = 0o600): Promise<void> {
  try {
    await makeDirectories(dirname(path));
    await writeFileAtomic(path, content, mode);
  } catch (cause) {
    throw StateNotWritten({ path }, { cause });
  }
}

/** Gone for good when it resolves. */
export async function removeState(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") throw StateNotWritten({ path }, { cause });
  }
}

/** Removes what a write that was killed half-way has left beside these files: it may hold secrets. */
export async function sweepTemporaries(paths: readonly string[]): Promise<void> {
  for (const directory of new Set(paths.map(dirname))) {
    const names = paths.filter((path) => dirname(path) === directory).map((path) => `.${basename(path)}.`);
    for (const entry of await readdir(directory).catch(() => [])) {
      if (entry.endsWith(".tmp") && names.some((name) => entry.startsWith(name)))
        await rm(join(directory, entry), { force: true });
    }
  }
}
