import type { Readable } from "node:stream";
import type { Clock } from "@slipway/kernel/clock";
import type { ProcessCommand, StartProcess } from "./started-process.ts";

export interface ProcessOptions extends ProcessCommand {
  readonly start: StartProcess;
  readonly input: string;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Between asking it to stop and ending it. */
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly maxStdoutBytes: number;
  readonly onStderr: (text: string) => void;
}

export interface Ended {
  readonly stdout: Uint8Array;
  /** `exit code 0`, `signal SIGKILL`. */
  readonly how: string;
  /** Why we stopped it, if we did. */
  readonly stopped: "deadline" | "cancelled" | "flood" | undefined;
}

/** Time to read what a dead process wrote. A process that holds its pipes open longer is not waited for. */
const DRAIN_MS = 1000;
/** A process may hang in the kernel where no signal reaches it. */
const UNKILLABLE_MS = 5000;

/**
 * Runs one process in its own process group. On abort, the whole group gets SIGTERM, later SIGKILL. Rejects only if the process
 * cannot be started.
 */
export async function runCpiProcess(options: ProcessOptions): Promise<Ended> {
  const { program, args, env } = options;
  const child = await options.start({ program, args, env });
  return await new Promise((resolve) => {
    const { clock, signal } = options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let how = "no end seen";
    let stopped: Ended["stopped"];
    let exited = false;
    const timers = new Set<() => void>();
    const after = (ms: number, work: () => void) => void timers.add(clock.after(ms, work));

    const finish = () => {
      for (const cancel of timers) cancel();
      signal?.removeEventListener("abort", onAbort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
      resolve({ stdout: Buffer.concat(chunks), how, stopped });
    };
    const killGroup = (name: NodeJS.Signals) => {
      try {
        process.kill(-child.pid, name);
      } catch {
        // The group is gone.
      }
    };
    const kill = () => {
      // Its process id may be in use again.
      if (exited) return;
      killGroup("SIGKILL");
      after(UNKILLABLE_MS, finish);
    };
    const stop = (why: "deadline" | "cancelled") => {
      if (stopped !== undefined) return;
      if (exited) return finish();
      stopped = why;
      killGroup("SIGTERM");
      after(options.graceMs, kill);
    };
    const onAbort = () => stop("cancelled");

    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= options.maxStdoutBytes) return void chunks.push(chunk);
      if (stopped === "flood") return;
      chunks.length = 0;
      stopped = "flood";
      if (exited) finish();
      else kill();
    });
    child.stderr.setEncoding("utf8").on("data", options.onStderr);
    // A CPI may answer without reading all of its input.
    child.stdin.on("error", () => undefined);
    const closed = Promise.all([child.stdout, child.stderr].map(closing));
    void child.exit.then((exit) => {
      void closed.then(finish);
      // The process may still run, and answer: its deadline holds.
      if (exit === undefined) return;
      how = exit.code === null ? `signal ${exit.signal}` : `exit code ${exit.code}`;
      // What it started must not go on when it was stopped; otherwise that is the CPI's business.
      if (stopped !== undefined) killGroup("SIGKILL");
      exited = true;
      // The pipes are read between a timer and an immediate, however late the timer is.
      after(DRAIN_MS, () => void setImmediate(finish));
    });
    after(options.deadlineMs, () => stop("deadline"));
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    child.stdin.end(options.input);
  });
}

const closing = (stream: Readable): Promise<void> => new Promise((resolve) => stream.once("close", resolve));
