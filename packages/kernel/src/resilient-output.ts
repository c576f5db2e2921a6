import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { systemCode } from "./errors.ts";

/** Set by whoever starts a program with a log file of theirs as its output: the most bytes the file may have. */
export const LOG_LIMIT_VARIABLE = "SLIPWAY_LOG_LIMIT";
export const LOG_LIMIT = 8 << 20;

export interface ResilientOutput {
  write(text: string): void;
  /** Something could not be written: whoever reads it has not got all. */
  readonly failed: boolean;
  readonly isTTY: boolean | undefined;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  /** Calls the listener when the terminal's window changes its size. The returned function ends it. */
  onResize(listener: () => void): () => void;
}

/** `process.stdout`, or the like. */
interface Stream {
  readonly fd: number;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export interface ResilientOutputOptions {
  /** More than this, and the older half of the file is left out. Only for a file that is a log of ours. */
  readonly limit?: number | undefined;
}

export const logLimitOf = (env: Readonly<Record<string, string | undefined>>): number | undefined => {
  const limit = Number(env[LOG_LIMIT_VARIABLE]);
  return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
};

/**
 * An output whose failures end nothing. A file on a full disk takes no text for a while: what was lost is counted, and
 * said when the file takes some again. A stream of Node's would end itself at the first failure, and the process with it.
 * Pipes and terminals are written to as ever; who listens for their errors hears of them.
 */
export function resilientOutput(stream: Stream, options: ResilientOutputOptions = {}): ResilientOutput {
  const { fd } = stream;
  const file = stream.isTTY !== true && isFile(fd);
  let lost = 0;
  let failed = false;
  let { limit } = options;
  const toFile = (text: string) => {
    const note =
      lost === 0 ? "" : `[${lost} ${lost === 1 ? "piece" : "pieces"} of output could not be written]\n`;
    try {
      writeAll(fd, Buffer.from(note + text));
      lost = 0;
    } catch {
      lost += 1;
      failed = true;
      return;
    }
    try {
      if (limit !== undefined && fstatSync(fd).size > limit) leaveOutOlder(fd, limit >> 1);
    } catch (error) {
      // One that cannot be read cannot be cut either.
      if (systemCode(error) === "EBADF") limit = undefined;
    }
  };
  return {
    write: (text) => {
      if (file) toFile(text);
      else stream.write(text);
    },
    get failed() {
      return failed;
    },
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    onResize: (listener) => {
      stream.on?.("resize", listener);
      return () => void stream.off?.("resize", listener);
    },
  };
}

function isFile(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    // Such as /dev/full.
    return found.isFile() || found.isCharacterDevice();
  } catch {
    return false;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Everything that holds the file appends to it, so that it can be cut under them. */
function leaveOutOlder(fd: number, keep: number): void {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(keep, size));
  let read = 0;
  for (let got = 1; got > 0 && read < bytes.length; read += got)
    got = readSync(fd, bytes, read, bytes.length - read, size - bytes.length + read);
  const line = bytes.indexOf("\n") + 1;
  ftruncateSync(fd, 0);
  writeAll(fd, Buffer.concat([Buffer.from("[older lines were left out]\n"), bytes.subarray(line, read)]));
}
