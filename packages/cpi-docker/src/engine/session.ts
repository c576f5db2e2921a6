import type { Socket } from "node:net";
import { upgraded } from "@slipway/kernel/http/upgrade";
import { systemRandom } from "@slipway/kernel/random";
import { NoEngine } from "../errors.ts";
import type { Engine } from "./engine.ts";
import { type ExecResult, execIn, makeExec, Outputs } from "./exec.ts";
import { Frames } from "./frames.ts";

/** How long a shell waits for the next program. A deploy works on one disk after the other. */
const IDLE_MS = 10_000;

/** Shells that wait, by engine and container. One that ended is in here no longer. */
const waiting = new Map<string, Shell[]>();

/** Words of the caller are its arguments, never a part of it. */
export interface Script {
  readonly script: string;
  readonly args: readonly string[];
}

/** A program and its arguments, or a script. */
export type ContainerProgram = readonly string[] | Script;

/**
 * Runs a program in a running container, as its root. The program goes on to its end even if its caller is gone.
 *
 * A shell in the container runs it, which stays for a while: an engine takes long to start a program, and work on one
 * disk takes several. Each of several callers at the same time has a shell of its own. In a container without a
 * shell, the engine runs the program.
 */
export async function runIn(
  engine: Engine,
  container: string,
  program: ContainerProgram,
  doing: string,
): Promise<ExecResult> {
  const key = keyOf(engine, container);
  const shell = waiting.get(key)?.pop() ?? (await Shell.open(engine, container, doing, key));
  if (shell === undefined) return await execIn(engine, container, wordsOf(program), doing);
  return await shell.run(program, engine.signal);
}

/** Returns the command line with which an engine runs the program. */
export const wordsOf = (program: ContainerProgram): readonly string[] =>
  "script" in program ? ["sh", "-c", program.script, "sh", ...program.args] : program;

/** Reports whether a shell waits there: the container runs, and is the one in which the shell was begun. */
export const hasShell = (engine: Engine, container: string): boolean => waiting.has(keyOf(engine, container));

/** Ends the shells that wait. */
export function endShells(engine: Engine, container: string): void {
  for (const shell of waiting.get(keyOf(engine, container)) ?? []) shell.end();
}

const keyOf = ({ address }: Engine, container: string): string => `${address.shown} ${container}`;

class Shell {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #key: string;
  #outputs = new Outputs();
  #heard: () => void = () => {};
  #gone = false;

  private constructor(socket: Socket, host: string, key: string) {
    this.#socket = socket;
    this.#host = host;
    this.#key = key;
    const frames = new Frames();
    socket.on("data", (piece) => {
      for (const frame of frames.take(piece)) this.#outputs.add(frame);
      this.#heard();
    });
    // What follows is `close`.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#gone = true;
      this.#leave();
      this.#heard();
    });
    socket.on("timeout", () => this.end());
  }

  /** Returns undefined if there is no shell, or if the engine gives no such connection. */
  static async open(
    engine: Engine,
    container: string,
    doing: string,
    key: string,
  ): Promise<Shell | undefined> {
    const id = await makeExec(engine, container, ["sh"], doing, true);
    const body = JSON.stringify({ Detach: false, Tty: false });
    const path = `/v${engine.version}/exec/${id}/start`;
    const headers = { "content-type": "application/json" };
    const ask = { method: "POST", path, headers, body, signal: engine.signal };
    const socket = await upgraded(engine.address.at, ask).catch(() => undefined);
    engine.signal?.throwIfAborted();
    if (socket === undefined) return undefined;
    const shell = new Shell(socket, engine.address.shown, key);
    return (await shell.run([":"], engine.signal).catch(() => undefined)) === undefined
      ? undefined
      : shell.#taken();
  }

  /** Its program goes on to its end when the signal aborts, and then the shell ends. */
  async run(program: ContainerProgram, signal: AbortSignal | undefined): Promise<ExecResult> {
    const mark = systemRandom.hex(8);
    const outputs = new Outputs();
    this.#outputs = outputs;
    this.#socket.setTimeout(0);
    this.#socket.ref();
    const done = new Promise<ExecResult>((resolve, reject) => {
      this.#heard = () => {
        const ended = endOf(outputs.stdout, mark);
        const said = `\n${mark}\n`;
        if (ended !== undefined && outputs.stderr.endsWith(said))
          resolve({ ...ended, stderr: outputs.stderr.slice(0, -said.length) });
        else if (signal?.aborted) reject(signal.reason as Error);
        else if (this.#gone)
          reject(NoEngine({ host: this.#host, why: "it hung up in the middle of an answer" }));
      };
    });
    const abort = () => this.#heard();
    signal?.addEventListener("abort", abort, { once: true });
    this.#socket.write(lines(program, mark));
    // It may have ended, or been aborted, before.
    this.#heard();
    try {
      const ran = await done;
      this.#wait();
      return ran;
    } catch (error) {
      this.end();
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#heard = () => {};
    }
  }

  end(): void {
    this.#leave();
    this.#socket.end();
  }

  /** Waits for the next program, without keeping this process alive. */
  #wait(): void {
    this.#socket.unref();
    this.#socket.setTimeout(IDLE_MS);
    if (!this.#gone) waiting.set(this.#key, [...(waiting.get(this.#key) ?? []), this]);
  }

  #taken(): this {
    this.#leave();
    return this;
  }

  #leave(): void {
    const others = (waiting.get(this.#key) ?? []).filter((other) => other !== this);
    if (others.length > 0) waiting.set(this.#key, others);
    else waiting.delete(this.#key);
  }
}

/**
 * Returns the shell's input: the program, and then the marks around its exit code. They are new each time, so that no
 * output can contain them.
 */
const lines = (program: ContainerProgram, mark: string): string =>
  `${inShell(program)} </dev/null
printf '\\n%s %s\\n' ${mark} "$?"
printf '\\n%s\\n' ${mark} >&2
`;

/** A script needs no other shell: a part of this one does for it, and is begun in half the time. */
const inShell = (program: ContainerProgram): string =>
  "script" in program
    ? `(set -- ${program.args.map(quoted).join(" ")}\n${program.script}\n)`
    : program.map(quoted).join(" ");

function endOf(output: string, mark: string): Pick<ExecResult, "stdout" | "code"> | undefined {
  const at = output.lastIndexOf(`\n${mark} `);
  if (at < 0 || !output.endsWith("\n")) return undefined;
  return { stdout: output.slice(0, at), code: Number(output.slice(at + mark.length + 2)) };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
