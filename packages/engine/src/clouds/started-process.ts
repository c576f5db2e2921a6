import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** Program to start. Nothing is inherited by its environment. */
export interface ProcessCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process in a process group and session of its own. */
export interface StartedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How the process ended; undefined if nobody can tell any more. */
  readonly exit: Promise<ProcessExit | undefined>;
  /** Lets this program end while the process runs. */
  readonly unref: () => void;
}

/** Rejects if the process cannot be started. */
export type StartProcess = (command: ProcessCommand) => Promise<StartedProcess>;

/** Starts a process as a child of this one. Node copies the page tables of its own memory for that. */
export const startHere: StartProcess = ({ program, args, env }) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    child.on("error", reject);
    const { pid, stdin, stdout, stderr } = child;
    // Not started; without descriptors left it has not even streams.
    if (pid === undefined) return;
    const exit = new Promise<ProcessExit>((ended) =>
      child.on("exit", (code, signal) => ended({ code, signal })),
    );
    resolve({ pid, stdin, stdout, stderr, exit, unref: () => child.unref() });
  });
