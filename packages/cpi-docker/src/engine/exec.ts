import type { HttpReply } from "@slipway/kernel/http/client";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Engine } from "./engine.ts";
import { type Frame, framesOf } from "./frames.ts";

export interface ExecResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const made = open({ Id: v.string() });

/** Prepares a program to be run, and returns the id of the exec. */
export async function makeExec(
  engine: Engine,
  container: string,
  command: readonly string[],
  doing: string,
  stdin = false,
): Promise<string> {
  const attached = { AttachStdin: stdin, AttachStdout: true, AttachStderr: true };
  const { Id } = await engine.json(made, {
    doing,
    method: "POST",
    path: `/containers/${encodeURIComponent(container)}/exec`,
    body: { Cmd: command, ...attached, User: "0:0", Env: ["LC_ALL=C"] },
  });
  return Id;
}

const ended = open({ Running: v.boolean(), ExitCode: v.nullable(v.number()) });

/** Runs a program in a running container, as its root. The program goes on to its end even if its caller is gone. */
export async function execIn(
  engine: Engine,
  container: string,
  command: readonly string[],
  doing: string,
): Promise<ExecResult> {
  const Id = await makeExec(engine, container, command, doing);
  const output = await split(
    await engine.stream({
      doing,
      method: "POST",
      path: `/exec/${Id}/start`,
      body: { Detach: false, Tty: false },
    }),
  );
  const { ExitCode } = await engine.json(ended, { doing, method: "GET", path: `/exec/${Id}/json` });
  return { code: ExitCode ?? -1, ...output };
}

/** Longest part that is kept of each output. */
const MOST = 256 * 1024;

async function split(reply: HttpReply): Promise<Omit<ExecResult, "code">> {
  const outputs = new Outputs();
  for await (const frame of framesOf(reply)) outputs.add(frame);
  return { stdout: outputs.stdout, stderr: outputs.stderr };
}

export class Outputs {
  stdout = "";
  stderr = "";

  /** Adds output. If there is too much, the middle is left out: programs say last why they end. */
  add({ from, text }: Frame): void {
    const all = this[from] + text;
    this[from] = all.length <= MOST ? all : all.slice(0, MOST / 2) + all.slice(-MOST / 2);
  }
}
