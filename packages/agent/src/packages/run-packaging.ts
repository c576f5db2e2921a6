import { spawn } from "node:child_process";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { messageTrail } from "@slipway/kernel/errors";
import { notStarted } from "@slipway/kernel/exec";
import type { Paths } from "../paths.ts";
import { usualLimits } from "../scripts/usual-limits.ts";
import { PackagingCutOff, PackagingFailed } from "./errors.ts";

/** Upstream's, for each of the two streams. */
const TAIL = 10 * 1024;
/** Limit for the log of a packaging script. The rest is dropped. */
const MOST_LOGGED = 64 * 1024 * 1024;

export interface Packaging {
  readonly name: string;
  readonly version: string;
  readonly compileTarget: string;
  readonly installTarget: string;
}

/** Runs the packaging script. Rejects with the last lines of its output when it fails or is cut off. */
export async function runPackaging(packaging: Packaging, paths: Paths, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const logs = join(paths.sysLog, "compilation");
  await rm(logs, { recursive: true, force: true });
  await mkdir(logs, { recursive: true, mode: 0o750 });
  // Before it begins: what it says is lost when it ends before a reader is attached.
  const files = await openLogs(logs);
  // A new process group, so that ending it ends what it started.
  const child = spawn(...usualLimits("bash", ["-x", "packaging"]), {
    cwd: packaging.compileTarget,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: `${join(paths.boshDir, "bin")}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      LANG: "C.UTF-8",
      TMPDIR: paths.dataTmp,
      BOSH_COMPILE_TARGET: packaging.compileTarget,
      BOSH_INSTALL_TARGET: packaging.installTarget,
      BOSH_PACKAGE_NAME: packaging.name,
      BOSH_PACKAGE_VERSION: packaging.version,
    },
  });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended by itself in this moment.
    }
  };
  const ended = new Promise<number>((resolve, reject) => {
    child.on("error", (cause) => reject(notStarted("/bin/sh", cause)));
    child.on("exit", (code, by) => resolve(code ?? 128 + (by === null ? 0 : constants.signals[by])));
  });
  signal.addEventListener("abort", kill, { once: true });
  try {
    const outputs = Promise.all([
      logged(child.stdout, files.stdout, kill),
      logged(child.stderr, files.stderr, kill),
    ]);
    outputs.catch(() => undefined);
    const code = await ended;
    // What it left running would hold its output open for ever.
    kill();
    const [stdout, stderr] = await outputs;
    if (signal.aborted)
      throw PackagingCutOff({ why: messageTrail(signal.reason), stdout: stdout.text, stderr: stderr.text });
    if (code !== 0) throw PackagingFailed({ code, stdout, stderr });
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
  }
}

async function openLogs(directory: string) {
  const stdout = await open(join(directory, "packaging.stdout.log"), "w", 0o640);
  try {
    return { stdout, stderr: await open(join(directory, "packaging.stderr.log"), "w", 0o640) };
  } catch (error) {
    await stdout.close();
    throw error;
  }
}

/** Writes the output into its log and keeps the last of it. A log that cannot be written ends the script. */
async function logged(output: Readable, file: FileHandle, end: () => void) {
  let tail = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const piece of output as AsyncIterable<Buffer>) {
      if (size < MOST_LOGGED) await file.writeFile(piece.subarray(0, MOST_LOGGED - size));
      size += piece.length;
      tail = Buffer.concat([tail, piece.subarray(-TAIL)]).subarray(-TAIL);
    }
  } catch (error) {
    end();
    throw error;
  } finally {
    await file.close();
  }
  return { text: wholeLines(tail, size > TAIL), cut: size > TAIL };
}

/** Drops the first partial line of a tail, if that costs little, or else the first partial character. */
function wholeLines(tail: Buffer, cut: boolean): string {
  if (!cut) return tail.toString("utf8");
  const line = tail.indexOf(10);
  const from = line >= 0 && line <= TAIL / 4 ? line + 1 : tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return tail.subarray(Math.max(from, 0)).toString("utf8");
}
