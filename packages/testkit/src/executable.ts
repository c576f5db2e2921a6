import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { expect, onTestFinished } from "vitest";
import { expectNoSecrets } from "./canaries.ts";
import { wellFormed } from "./requests.ts";

export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Run>;
}

interface Options {
  readonly args?: readonly string[];
  /** Nearly nothing by default, like a Director gives. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a CPI as a caller does: the request on stdin, then its end. */
export function startCpi(script: string, input: string | Uint8Array, options: Options = {}): Started {
  const child = spawn(process.execPath, [script, ...(options.args ?? [])], {
    env: options.env ?? { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
    });
  }
  const ended = new Promise<Run>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...texts }));
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return { child, ended };
}

export const runCpi = (script: string, input: string | Uint8Array, options?: Options): Promise<Run> =>
  startCpi(script, input, options).ended;

/** Checks a run and returns its reply: exit code 0, one reply on stdout and nothing else, no secret anywhere. */
export function replyOf(run: Run): CpiResponse {
  expect({ code: run.code, signal: run.signal }).toEqual({ code: 0, signal: null });
  expect(run.stdout).toMatch(/^\{.*\}\n$/);
  expectNoSecrets(run.stdout);
  expectNoSecrets(run.stderr);
  return wellFormed(JSON.parse(run.stdout));
}

/** A configuration file of the form BOSH jobs write. */
export async function writeConfig(dir: string, properties: object): Promise<string> {
  const file = join(dir, "cpi.json");
  await writeFile(file, JSON.stringify({ cloud: { plugin: "x", properties } }), { mode: 0o600 });
  return file;
}
