import { spawn } from "node:child_process";
import { constants } from "node:os";
import { defineError, systemCode } from "./errors.ts";

export interface ExecOptions {
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Added to a PATH of the system's directories and a UTF-8 locale; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Most characters kept of each output stream; the rest is read and dropped. */
  readonly keep?: number;
}

export interface ExecResult {
  readonly program: string;
  readonly args: readonly string[];
  /** Exit code; 128 + n when signal n ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program with arguments, never a shell string. Rejects only if it cannot be started or is aborted. */
export type Exec = (program: string, args: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

export const CommandFailed = defineError<{ doing: string; program: string; code: number; stderr: string }>({
  code: "KER-004",
  kind: "outside",
  message: (p) => `${p.doing}: ${p.program} ended with ${p.code}: ${p.stderr}`,
  next: "Look at what the program says; run it by hand to see more.",
});

export const CommandMissing = defineError<{ program: string }>({
  code: "KER-005",
  kind: "operator",
  message: (p) => `the program ${p.program} cannot be started`,
  next: "Install the package that has it, and see that it is in the PATH.",
});

export const CommandNotStarted = defineError<{ program: string; why: string }>({
  code: "KER-007",
  kind: "outside",
  message: (p) => `the program ${p.program} cannot be started now: ${p.why}`,
  next: "The machine is short of file descriptors, processes or memory: see what uses them, or raise the limits.",
});

const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

/** Tells a program that is not installed from a machine that has nothing left to start one with. */
export function notStarted(program: string, cause: Error): Error {
  const why = systemCode(cause) ?? cause.message;
  return NOT_THERE.has(why)
    ? CommandMissing({ program }, { cause })
    : CommandNotStarted({ program, why }, { cause });
}

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const DEFAULT_KEEP = 1024 * 1024;

export const systemExec: Exec = (program, args, options = {}) =>
  new Promise((resolve, reject) => {
    // A group of its own, so that ending it ends what it started.
    const child = spawn(program, args, {
      env: { PATH: SYSTEM_PATH, LANG: "C.UTF-8", ...options.env },
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.on("error", (cause) => reject(notStarted(program, cause)));
    // Without file descriptors left, a child that did not start has no streams either.
    const { pid } = child;
    if (pid === undefined) return;
    const keep = options.keep ?? DEFAULT_KEEP;
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (stdout.length < keep) stdout += chunk.slice(0, keep - stdout.length);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      if (stderr.length < keep) stderr += chunk.slice(0, keep - stderr.length);
    });
    const kill = () => {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It ended by itself in this moment.
      }
    };
    const { signal } = options;
    if (signal?.aborted) kill();
    signal?.addEventListener("abort", kill, { once: true });
    child.stdin.on("error", () => undefined);
    child.on("close", (code, killedBy) => {
      signal?.removeEventListener("abort", kill);
      if (signal?.aborted) return reject(signal.reason as Error);
      resolve({
        program,
        args,
        code: code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]),
        stdout,
        stderr,
      });
    });
    child.stdin.end(options.input);
  });

/** The output of a program that must succeed; `doing` says what for. */
export async function mustRun(
  exec: Exec,
  doing: string,
  program: string,
  args: readonly string[],
  options?: ExecOptions,
) {
  const result = await exec(program, args, options);
  if (result.code === 0) return result;
  throw CommandFailed({
    doing,
    program,
    code: result.code,
    stderr: result.stderr.trim().slice(-2000) || "no message",
  });
}
