import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "@slipway/testkit/eventually";

/** A Director as a process of its own. */
export class DirectorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  readonly #output: { text: string };
  readonly url: string;

  private constructor(child: ChildProcess, ended: Promise<unknown[]>, output: { text: string }, url: string) {
    this.#child = child;
    this.#ended = ended;
    this.#output = output;
    this.url = url;
  }

  /** Ready when it says where it listens. */
  static async start(
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<DirectorProcess> {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { text: "" };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        output.text += chunk;
      });
    const ended = once(child, "close");
    const url = await eventually("the Director's address", () => {
      const found = /listens at (https:\S+?)\. /.exec(output.text)?.[1];
      if (found === undefined && child.exitCode !== null) return "";
      return found;
    });
    if (url === "") throw new Error(`the Director did not start:\n${output.text}`);
    return new DirectorProcess(child, ended, output, url);
  }

  /** Everything it has printed. */
  get output(): string {
    return this.#output.text;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Stops the Director as Ctrl-C does. Resolves to the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGINT");
    await eventually("the end of the Director", () => this.#over());
    return this.#child.exitCode;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #over(): true | undefined {
    return this.#child.exitCode !== null || this.#child.signalCode !== null ? true : undefined;
  }
}
