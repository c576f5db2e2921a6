import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { boundedOutput } from "./bounded.ts";
import { CannotRun } from "./errors.ts";
import { usualLimits } from "./usual-limits.ts";

export interface GroupOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Open files that take the output; without them the output is kept, within limits. */
  readonly output?: { readonly stdout: number; readonly stderr: number };
  /** Most bytes kept of each stream. */
  readonly keep?: number;
  /** Ends the group: SIGTERM, and SIGKILL for processes left after ten seconds. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Called with the pid as soon as the program runs, before it can end. */
  readonly onStart?: (pid: number) => Promise<void>;
}

export interface GroupEnd {
  /** Exit code; 128 + n when signal n ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Upstream's patience with a script that was asked to end. */
export const KILL_AFTER_MS = 10_000;
/** A process that the script left behind may hold its output open for ever; what it wrote itself is there by then. */
const LAST_OUTPUT_MS = 500;
const REAPED_MS = 2_000;
/** Pause between checks for processes of the group. */
const LOOK_MS = 100;
const KEEP = 64 << 10;

/**
 * Runs a program in a new process group. Rejects only if it cannot be started: a program that was asked to end has
 * an exit code like any other.
 */
export async function runGroup(options: GroupOptions): Promise<GroupEnd> {
  const { program, args, env, output, clock, signal } = options;
  const keep = options.keep ?? KEEP;
  const [stdout, stderr] = [boundedOutput(keep), boundedOutput(keep)];
  const child = spawn(...usualLimits(program, args), {
    env,
    cwd: "/",
    detached: true,
    stdio: ["ignore", output?.stdout ?? "pipe", output?.stderr ?? "pipe"],
  });
  child.stdout?.on("data", (chunk: Uint8Array) => stdout.add(chunk));
  child.stderr?.on("data", (chunk: Uint8Array) => stderr.add(chunk));
  const exited = exitOf(child, program);
  const closed = Promise.all([closeOf(child.stdout), closeOf(child.stderr)]);
  // A program that fails to start has no pid; `exited` says why.
  const pid = child.pid;
  const end = () => {
    if (pid !== undefined) void endGroup(pid, clock);
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    if (pid !== undefined) await options.onStart?.(pid);
    if (signal.aborted) end();
    const code = await exited;
    await atMost(LAST_OUTPUT_MS, clock, closed);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    signal.removeEventListener("abort", end);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Resolves when no process of the group is left, or soon after SIGKILL, since a dead process may wait to be reaped. */
export async function endGroup(pid: number, clock: Clock): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  const killAt = clock.monotonic() + KILL_AFTER_MS;
  while (signalGroup(pid, 0) && clock.monotonic() < killAt) await clock.sleep(LOOK_MS);
  if (!signalGroup(pid, "SIGKILL")) return;
  const giveUp = clock.monotonic() + REAPED_MS;
  while (signalGroup(pid, 0) && clock.monotonic() < giveUp) await clock.sleep(LOOK_MS);
}

function atMost(ms: number, clock: Clock, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    work.then(done, done);
  });
}

/** Returns true if the group still has a process to receive the signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

function exitOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(CannotRun({ program, why: cause.message }, { cause })));
    child.on("exit", (code, killedBy) =>
      resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy])),
    );
  });
}

/** A child that did not start for lack of file descriptors has no streams. */
const closeOf = (stream: Readable | null | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (stream === null || stream === undefined || stream.closed) return resolve();
    stream.once("close", resolve);
    stream.once("error", () => resolve());
  });
