import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode, toError } from "@slipway/kernel/errors";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { CpiLost, CpiRefused } from "./cloud.ts";
import type { CpiPort, CpiPortOptions } from "./cpi-port.ts";
import { type Ended, runCpiProcess } from "./cpi-process.ts";
import { CpiNotRun, CpiStopped } from "./errors.ts";
import { inMethod, readReply } from "./reply.ts";
import { type StartProcess, startHere } from "./started-process.ts";

export interface ExecCpi {
  readonly path: string;
  /** Given with `--configFile`; without one the CPI gets no arguments, as from upstream. */
  readonly configFile?: string | undefined;
  readonly clock: Clock;
  /** Environment from which TMPDIR and HOME are taken; default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** For the CPI, beside PATH, TMPDIR and HOME, and over them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly maxStdoutBytes?: number | undefined;
  /** Characters of stderr passed on per call; the rest is read and dropped. */
  readonly maxStderrChars?: number | undefined;
  /** Time that a CPI has for its cleanup after a stop request. */
  readonly graceMs?: number | undefined;
  /** Starts the process; default: as a child of this process. */
  readonly start?: StartProcess | undefined;
}

const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const MAX_STDOUT = 8 * 1024 * 1024;
const MAX_STDERR = 4 * 1024 * 1024;
/** More than the half minute that the SDK gives a method after a stop request. */
const GRACE_MS = 40_000;

/** A CPI executable: one process per call, as upstream's Director runs it. */
export function execCpiPort(cpi: ExecCpi): CpiPort {
  const maxStdoutBytes = cpi.maxStdoutBytes ?? MAX_STDOUT;
  const run = (request: CpiRequest, options: CpiPortOptions): Promise<Ended> => {
    const { program, args } = commandOf(cpi);
    return runCpiProcess({
      start: cpi.start ?? startHere,
      program,
      args,
      env: { ...environmentOf(cpi.environment ?? process.env), ...cpi.env },
      input: JSON.stringify(request),
      clock: cpi.clock,
      deadlineMs: options.deadlineMs,
      graceMs: cpi.graceMs ?? GRACE_MS,
      signal: options.signal,
      maxStdoutBytes,
      onStderr: bounded(options.log, cpi.maxStderrChars ?? MAX_STDERR),
    }).catch((error: unknown) => {
      throw notRun(cpi.path, request, `cannot be started: ${systemCode(error) ?? "unknown"}`, error);
    });
  };
  return {
    command: cpi.path,
    fingerprint: async () => (await Promise.all([cpi.path, cpi.configFile].map(stampOf))).join(" "),
    call: async (request, options) => {
      options.signal?.throwIfAborted();
      await mustBeExecutable(cpi.path, request);
      options.signal?.throwIfAborted();
      const said = lines(options.log);
      const ended = await run(request, { ...options, log: said.add });
      said.line(`[external-cpi] [${request.context.request_id ?? ""}] exit_status: ${ended.how}`);
      const about = { cpi: cpi.path, request, hide: options.hide, ended: ended.how };
      if (ended.stopped === undefined) return readReply(ended.stdout, about);
      const why = {
        deadline: `no answer within ${options.deadlineMs / 1000} s`,
        cancelled: "the task was cancelled",
        flood: `more than ${maxStdoutBytes} bytes on stdout`,
      }[ended.stopped];
      const reply = ended.stopped === "flood" ? undefined : lastWord(() => readReply(ended.stdout, about));
      if (reply?.error === null) return reply;
      throw stoppedError(cpi.path, request, why, {
        said: reply?.error?.message === undefined ? undefined : options.hide(reply.error.message),
        cause: ended.stopped === "cancelled" ? options.signal?.reason : undefined,
      });
    },
  };
}

/** Follows links, as installations replace those. What is missing is said by the call. */
async function stampOf(path: string | undefined): Promise<string> {
  if (path === undefined) return "none";
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? "missing" : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`;
}

/** A result that came after all is a result. An error of a call that was cut off may be half the truth. */
function lastWord(read: () => CpiResponse): CpiResponse | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function stoppedError(
  cpi: string,
  request: CpiRequest,
  why: string,
  more: { readonly said?: string | undefined; readonly cause?: unknown } = {},
): CpiLost {
  const last = more.said === undefined ? "" : `; its last word: ${more.said}`;
  return new CpiLost(
    request.method,
    `The CPI was stopped: ${why} ${inMethod(request)}; whether it did the work is not known${last}`,
    { cause: CpiStopped({ cpi, method: request.method, why }, { cause: more.cause }) },
  );
}

function commandOf(cpi: ExecCpi): { readonly program: string; readonly args: readonly string[] } {
  const config = cpi.configFile === undefined ? [] : ["--configFile", cpi.configFile];
  return isScript(cpi.path)
    ? { program: process.execPath, args: [cpi.path, ...config] }
    : { program: cpi.path, args: config };
}

const isScript = (path: string): boolean => /\.[cm]?js$/.test(path);

function environmentOf(from: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { TMPDIR, HOME } = from;
  return { PATH, ...(TMPDIR !== undefined && { TMPDIR }), ...(HOME !== undefined && { HOME }) };
}

/** Upstream says the same of a file that is missing. */
async function mustBeExecutable(path: string, request: CpiRequest): Promise<void> {
  try {
    await access(path, isScript(path) ? constants.R_OK : constants.X_OK);
  } catch (error) {
    throw notRun(path, request, "is not executable", error);
  }
}

/** Refused rather than lost: what did not run did nothing. */
function notRun(path: string, request: CpiRequest, why: string, error: unknown): CpiRefused {
  const cause = CpiNotRun({ path, why }, { cause: toError(error) });
  const refused = new CpiRefused({
    method: request.method,
    type: "Bosh::Clouds::ExternalCpi::NonExecutable",
    errorName: undefined,
    message: cause.message,
    okToRetry: false,
  });
  return Object.assign(refused, { cause });
}

function bounded(log: (text: string) => void, most: number): (text: string) => void {
  let left = most;
  return (text) => {
    if (left <= 0) return;
    log(text.slice(0, left));
    left -= text.length;
    if (left <= 0) log(`\n[external-cpi] more than ${most} characters on stderr: the rest is left out\n`);
  };
}

/** A line of ours starts at the beginning of one, wherever the CPI stopped. */
function lines(log: (text: string) => void) {
  let atStart = true;
  const add = (text: string) => {
    if (text !== "") atStart = text.endsWith("\n");
    log(text);
  };
  return { add, line: (text: string) => add(`${atStart ? "" : "\n"}${text}\n`) };
}
