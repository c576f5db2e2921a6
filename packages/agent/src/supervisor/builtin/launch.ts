import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { toError } from "@slipway/kernel/errors";
import { usualLimits, whyNotRun } from "../../scripts/usual-limits.ts";
import type { MonitProgram } from "../monit-file/model.ts";
import { type ProcessId, readStat } from "./procfs.ts";

/** How a program ended: its exit code, 128 + n after signal n, or why it could not be run. */
export interface ProgramEnd {
  readonly code?: number;
  readonly error?: string;
}

export interface Launched {
  readonly id: ProcessId | undefined;
  readonly ended: Promise<ProgramEnd>;
}

/** monit's. */
const PATH = "/bin:/usr/bin:/sbin:/usr/sbin";

/**
 * Runs a program as monit does: a session of its own, nothing on its standard streams, the usual limits, and an
 * environment that holds the path and what monit tells. It outlives the agent.
 */
export async function launch(
  program: MonitProgram,
  told: Readonly<Record<string, string>>,
  etc: (file: string) => string,
): Promise<Launched> {
  const [file = "", ...args] = program.argv;
  const not = (error: string) => ({ id: undefined, ended: Promise.resolve({ error }) });
  const why = await whyNotRun(file);
  if (why !== undefined) return not(`${file} cannot be run: ${why}`);
  let who: { uid?: number; gid?: number };
  try {
    who = await identity(program, etc);
  } catch (error) {
    return not(toError(error).message);
  }
  const child = spawn(...usualLimits(file, args), {
    detached: true,
    stdio: "ignore",
    cwd: "/",
    env: { PATH, ...told },
    ...who,
  });
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.on("error", (error) => resolve({ error: error.message }));
    child.on("exit", (code, signal) => resolve({ code: code ?? 128 + (SIGNALS[signal ?? ""] ?? 0) }));
  });
  child.unref();
  const started = child.pid === undefined ? undefined : readStat(child.pid)?.started;
  const id = child.pid === undefined ? undefined : { pid: child.pid, started: started ?? "" };
  return { id, ended };
}

const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** Only root can run a program as somebody else; others run it as themselves. */
async function identity(
  program: MonitProgram,
  etc: (file: string) => string,
): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = program;
  return {
    ...(uid !== undefined && { uid: await idOf(uid, etc("passwd"), "user") }),
    ...(gid !== undefined && { gid: await idOf(gid, etc("group"), "group") }),
  };
}

/** The number of a user or group; both files have it in their third field. */
export async function idOf(name: string, file: string, what: string): Promise<number> {
  if (/^\d+$/.test(name)) return Number(name);
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.split(":"));
  const found = lines.find(([first]) => first === name)?.[2];
  if (found === undefined) throw new Error(`there is no ${what} ${name}`);
  return Number(found);
}

/** Ends a program and what it started. It leads a group of its own, so that nobody else is hit. */
export function endGroup(id: ProcessId, signal: "SIGTERM" | "SIGKILL"): void {
  const seen = readStat(id.pid);
  if (seen === undefined || seen.started !== id.started) return;
  try {
    process.kill(-id.pid, signal);
  } catch {
    // It ended by itself in this moment.
  }
}
