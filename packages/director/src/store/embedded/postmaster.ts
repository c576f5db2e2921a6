import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";

/** The process named by a data directory's postmaster.pid, if it lives and really serves that directory. */
export async function livingPostmaster(data: string): Promise<number | undefined> {
  const pid = Number((await textOf(join(data, "postmaster.pid")))?.split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 1 && (await serves(pid, data)) ? pid : undefined;
}

/** Reports whether the pid file names no process, or one that is something else: its pid was given out again. */
export async function isPidFileStale(data: string): Promise<boolean> {
  const text = await textOf(join(data, "postmaster.pid"));
  if (text === undefined) return false;
  const pid = Number(text.split("\n")[0]);
  // A dead one is left to the server: it looks after what a killed server's children still use.
  return !Number.isSafeInteger(pid) || pid <= 1 || (exists(pid) && !(await serves(pid, data)));
}

/** The arguments it was started with, one string. */
export async function startedWith(data: string): Promise<string | undefined> {
  const line = (await textOf(join(data, "postmaster.opts")))?.trim();
  return line?.slice(line.indexOf(' "') + 1);
}

/** Returns arguments as the server writes them to postmaster.opts. */
export const asWritten = (args: readonly string[]): string => args.map((arg) => `"${arg}"`).join(" ");

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** A zombie has no command line, so it does not count. */
export async function serves(pid: number, data: string): Promise<boolean> {
  if (!exists(pid)) return false;
  const words = (await textOf(`/proc/${pid}/cmdline`))?.split("\0");
  if (words !== undefined) return basename(words[0] ?? "") === "postgres" && words.includes(data);
  if (process.platform === "linux") return false;
  const { stdout } = await systemExec("ps", ["-ww", "-o", "command=", "-p", String(pid)]);
  return stdout.includes("postgres") && stdout.includes(data);
}

/** Waits until it is gone; false when it is still there after `ms`. */
export async function waitGone(pid: number, data: string, ms: number, clock: Clock): Promise<boolean> {
  const end = clock.monotonic() + ms;
  while (await serves(pid, data)) {
    if (clock.monotonic() >= end) return false;
    await clock.sleep(10);
  }
  return true;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ESRCH") return undefined;
    throw error;
  }
}
