import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiResponse, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { check } from "@slipway/protocol/schema/check";
import { CpiDidNotAnswer } from "./errors.ts";

export interface CpiExecutable {
  readonly path: string;
  readonly configFile: string;
  /** Words after the program; default: `--configFile` and the file. */
  readonly args?: readonly string[];
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Runs the program once; default: a process that is killed as a group when the signal is aborted. */
  readonly run?: RunProgram;
}

/** Runs a CPI with these words on its standard input. */
export type RunProgram = (input: string, signal: AbortSignal) => Promise<Spoken>;

export interface CpiExecutableCall {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly context: object;
  readonly api_version?: number;
}

export interface Spoken {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

/** Limit for the output of a CPI; no reply is as large. */
const LARGEST = 64 << 20;

/** One call to a CPI executable, the way a Director makes it: one line in, one object out, nearly no environment. */
export async function callCpi(cpi: CpiExecutable, call: CpiExecutableCall): Promise<CpiResponse> {
  const { out, err, code } = await executeCpi(cpi, JSON.stringify(call), call.method);
  const refuse = (why: string) => CpiDidNotAnswer({ path: cpi.path, method: call.method, why });
  if (code !== 0) throw refuse(`exit code ${code}; stderr: ${err.slice(-500)}`);
  const checked = check(cpiResponse, parsed(out, refuse), "reply");
  if (!checked.ok) throw refuse(checked.problems.join("; "));
  return checked.value;
}

/** Whatever it says to these words. Killed when it takes too long. */
export async function executeCpi(cpi: CpiExecutable, input: string, doing = "the call"): Promise<Spoken> {
  return await withDeadline(`${doing} of ${cpi.path}`, cpi.deadlineMs, cpi.clock, undefined, (signal) =>
    (cpi.run ?? programOf(cpi))(input, signal),
  );
}

function parsed(out: string, refuse: (why: string) => Error): unknown {
  try {
    return parseStrictJson(out, "its reply");
  } catch (error) {
    throw refuse(messageTrail(error));
  }
}

/** Returns what runs the executable itself. */
export const programOf =
  (cpi: Pick<CpiExecutable, "path" | "configFile" | "args">): RunProgram =>
  (input, signal) =>
    execute(cpi, input, signal);

async function execute(
  cpi: Pick<CpiExecutable, "path" | "configFile" | "args">,
  input: string,
  signal: AbortSignal,
): Promise<Spoken> {
  const script = /\.[cm]?js$/.test(cpi.path);
  const [program, args] = script ? [process.execPath, [cpi.path]] : [cpi.path, []];
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  const options = { input, env, signal, keep: LARGEST };
  const ran = await systemExec(
    program,
    [...args, ...(cpi.args ?? ["--configFile", cpi.configFile])],
    options,
  ).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw CpiDidNotAnswer({ path: cpi.path, method: "the call", why: "it cannot be run" }, { cause });
  });
  return { out: ran.stdout, err: ran.stderr, code: ran.code };
}
