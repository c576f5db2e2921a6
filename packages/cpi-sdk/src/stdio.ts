import { readSync, writeSync } from "node:fs";
import { systemCode } from "@slipway/kernel/errors";
import { scrubber } from "./log.ts";

/** Plain descriptors: setting up the streams of `process` costs more than the rest of an `info` call. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

const CHUNK = 64 * 1024;

/** All of stdin, or undefined when it is larger than `limit`; then it is read to its end all the same. */
export function readAll(limit: number): Uint8Array | undefined {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const chunk = new Uint8Array(CHUNK);
    const count = retryBusy(() => readSync(STDIN, chunk));
    if (count === 0) break;
    length += count;
    // A caller that writes to a closed pipe would not read our answer, so the rest is read and dropped.
    if (length <= limit) chunks.push(chunk.subarray(0, count));
    else chunks.length = 0;
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}

/** Returns false when the text could not be written. A reader that is gone is no failure: it would not read the error. */
function writeAll(fd: number, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; ) at += retryBusy(() => writeSync(fd, bytes, at));
    return true;
  } catch (error) {
    return systemCode(error) === "EPIPE" || systemCode(error) === "EBADF";
  }
}

/** A descriptor may be non-blocking by its other holder's choice: then an empty or full pipe is EAGAIN. */
function retryBusy(work: () => number): number {
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    try {
      return work();
    } catch (error) {
      if (systemCode(error) === "EOF") return 0;
      if (systemCode(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait);
    }
  }
}

export interface StdioOutput {
  readonly log: (line: string) => void;
  readonly hide: (secrets: readonly string[]) => void;
  /** False when it could not be written. */
  readonly reply: (text: string) => boolean;
}

/**
 * Keeps stdout for the one reply: whatever else a CPI prints there goes to stderr, and nothing that goes to stderr
 * shows a secret of the call. A child process that inherits stdout is out of reach: give it a pipe.
 */
export function takeOverOutput(): StdioOutput {
  let scrub = scrubber([]);
  const stderr = Object.getOwnPropertyDescriptor(process, "stderr")?.get;
  let diverted: NodeJS.WriteStream | undefined;
  const divert = (): NodeJS.WriteStream => {
    diverted ??= scrubbed(stderr?.call(process) as NodeJS.WriteStream, (text) => scrub(text));
    return diverted;
  };
  Object.defineProperty(process, "stdout", { get: divert, configurable: true });
  Object.defineProperty(process, "stderr", { get: divert, configurable: true });
  return {
    log: (line) => void writeAll(STDERR, line),
    hide: (secrets) => {
      scrub = scrubber(secrets);
    },
    reply: (text) => writeAll(STDOUT, text),
  };
}

/** Written past the stream, which would hold back what a full pipe does not take: the process exits after its reply. */
function scrubbed(stream: NodeJS.WriteStream, scrub: (text: string) => string): NodeJS.WriteStream {
  stream.on("error", () => undefined);
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
    writeAll(STDERR, scrub(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8")));
    const callback = typeof encoding === "function" ? encoding : done;
    if (typeof callback === "function") process.nextTick(callback);
    return true;
  }) as typeof stream.write;
  return stream;
}
