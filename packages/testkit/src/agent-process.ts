import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "./eventually.ts";

/** A running agent. Killing it ends the agent alone, not what it has started. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | NodeJS.Signals>;
  #output = "";
  #over = false;

  constructor(command: readonly string[]) {
    const [program = "", ...args] = command;
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = once(this.#child, "exit").then(([code, signal]) => {
      this.#over = true;
      return (code ?? signal) as number | NodeJS.Signals;
    });
    this.#ended.catch(() => undefined);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
  }

  get over(): boolean {
    return this.#over;
  }

  output(): string {
    return this.#output;
  }

  async said(text: string | RegExp): Promise<void> {
    await eventually(`the agent saying ${text}`, () => {
      if (typeof text === "string" ? this.#output.includes(text) : text.test(this.#output)) return true;
      if (this.#over) throw new Error(`it has ended: ${this.#output}`);
      return undefined;
    });
  }

  /** The exit code, or the signal that ended it. */
  async end(withinMs = 15_000): Promise<number | NodeJS.Signals> {
    await eventually(`the end of the agent: ${this.#output}`, () => this.#over || undefined, withinMs);
    return await this.#ended;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals> {
    this.#child.kill(signal);
    return await this.#ended;
  }
}
