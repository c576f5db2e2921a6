import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

const SOURCES = fileURLToPath(new URL("../../kernel/src", import.meta.url));

/** Makes one plain JavaScript file of a script that imports kernel sources as `./name.ts`. */
export const bundleScript = (script: string): Promise<string> =>
  bundle({ script, in: SOURCES }, { format: "esm" });

/** A real process. Its output is a list of lines that the test waits for. */
export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: string[] = [];
  readonly #ended: Promise<unknown[]>;

  constructor(command: string, args: readonly string[]) {
    this.process = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = once(this.process, "close");
    const { stdout, stderr } = this.process;
    if (stdout === null || stderr === null) throw new Error("bug: no pipes");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    stderr.on("data", (chunk: Buffer) => this.#errors.push(chunk.toString()));
  }

  static node(script: string, ...args: readonly string[]): Child {
    return new Child(process.execPath, [script, ...args]);
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error("the child did not start");
    return this.process.pid;
  }

  /** The next line it prints. */
  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error(`the child ended early: ${this.#errors.join("")}`);
    return next.value;
  }

  /** Waits until it is gone; the exit code or the signal. */
  async end(): Promise<number | string> {
    const [code, signal] = (await this.#ended) as [number | null, string | null];
    if (code !== null && code !== 0) throw new Error(`the child failed: ${this.#errors.join("")}`);
    return code ?? signal ?? "?";
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#ended;
  }
}
