import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { type CpiExecutable, programOf } from "../exec-cpi.ts";
import { readCloudFile } from "./cloud-file.ts";
import { journaled } from "./journaled-run.ts";
import { openRegistry } from "./registry.ts";
import { type Leftover, removeThings } from "./remove-things.ts";
import { deadRuns, RunDirectory } from "./run-directory.ts";

const CALL_MS = 600_000;
const PAUSE_MS = 50;

export interface CleanedRun {
  readonly dir: string;
  readonly cpi: string;
  /** Number of things that the killed run had left. */
  readonly found: number;
  readonly left: readonly Leftover[];
}

/** Removes what killed runs have left in the cloud, with the CPI and the configuration that each run had. */
export async function cleanRuns(parent: string, clock: Clock): Promise<readonly CleanedRun[]> {
  const cleaned: CleanedRun[] = [];
  for (const dir of await deadRuns(parent)) cleaned.push(await cleanRun(dir, clock));
  return cleaned;
}

async function cleanRun(dir: string, clock: Clock): Promise<CleanedRun> {
  const run = await RunDirectory.open(dir, clock);
  try {
    await callsEnded(dir, clock);
    const found = run.journal.things.length;
    // A run that was killed before its first call has no header yet.
    if (found === 0) return { dir, cpi: "", found, left: [] };
    const { cpi, arguments: words, registry, config, cloud } = await run.header();
    const opened =
      registry === null
        ? undefined
        : await openRegistry({ dir, config, cloud: readCloudFile(cloud, dir), ...registry });
    try {
      const configFile = opened?.files.good ?? join(dir, "cpi.json");
      const args = words.map((word) => word.replaceAll("{config}", configFile));
      const plain = { path: cpi, configFile, args };
      const executable: CpiExecutable = {
        ...plain,
        clock,
        deadlineMs: CALL_MS,
        run: journaled(programOf(plain), run.journal),
      };
      return { dir, cpi, found, left: await removeThings(run.journal, executable) };
    } finally {
      await opened?.close();
    }
  } finally {
    await run.close();
  }
}

/**
 * Waits until the calls that outlived the killed run have ended. A call that has hardly begun would otherwise make its
 * thing after `clean` has removed what a repeat of the call has made.
 */
async function callsEnded(dir: string, clock: Clock): Promise<void> {
  const giveUp = clock.monotonic() + CALL_MS;
  while ((await isCalling(dir)) && clock.monotonic() < giveUp) await clock.sleep(PAUSE_MS);
}

/** Reports whether a process was started with a file of the run. Only Linux lists processes as files. */
async function isCalling(dir: string): Promise<boolean> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "")),
  );
  return lines.some((line) => line.split("\0").some((word) => word.startsWith(`${dir}/`)));
}
