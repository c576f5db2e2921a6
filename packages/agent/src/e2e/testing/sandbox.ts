import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { systemExec } from "@slipway/kernel/exec";
import { holdMachine } from "../../testing/hold-machine.ts";
import { eventually } from "./eventually.ts";

const isRoot = process.getuid?.() === 0;
const UNSHARE = isRoot ? ["--mount", "--propagation", "private"] : ["--user", "--map-root-user", "--mount"];
const ENTER = isRoot ? ["--mount"] : ["--user", "--mount", "--preserve-credentials"];

export const canUseSandboxes = (): boolean => spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

/** Mounts of its own that outlive every agent in them, as those of a VM do, and end with the test at the latest. */
export class Sandbox {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<Sandbox> {
    const release = await holdMachine();
    // It reads until its input ends, which it does when the test process is gone, however that happens.
    const holder = spawn("unshare", [...UNSHARE, "sh", "-c", "echo ready; exec cat"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let said = "";
    holder.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await eventually("mounts of its own", () => said.includes("ready") || undefined).finally(release);
    return new Sandbox(holder);
  }

  command(...command: readonly string[]): readonly string[] {
    return ["nsenter", "--target", `${this.#holder.pid}`, ...ENTER, ...command];
  }

  async run(...command: readonly string[]): Promise<string> {
    const [program = "", ...args] = this.command(...command);
    const result = await systemExec(program, args);
    if (result.code !== 0) throw new Error(`${command.join(" ")}: ${result.code} ${result.stderr}`);
    return result.stdout;
  }

  /** A path of the sandbox as it is seen from outside. */
  path(path: string): string {
    return `/proc/${this.#holder.pid}/root${path}`;
  }

  async close(): Promise<void> {
    const ended = once(this.#holder, "exit");
    this.#holder.stdin?.end();
    await ended;
  }
}
