import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { systemExec } from "@slipway/kernel/exec";
import { eventually } from "./eventually.ts";
import { holdMachine } from "./hold-machine.ts";

const isRoot = process.getuid?.() === 0;
const UNSHARE = isRoot ? ["--mount", "--propagation", "private"] : ["--user", "--map-root-user", "--mount"];
const ENTER = isRoot ? ["--mount"] : ["--user", "--mount", "--preserve-credentials"];

/** Trying it makes one. */
export async function canUseSandboxes(): Promise<boolean> {
  const release = await holdMachine();
  try {
    return spawnSync("unshare", [...UNSHARE, "true"]).status === 0;
  } finally {
    await release();
  }
}

/** A process that does nothing, in mounts of its own, until its input ends: when the test process is gone at the latest. */
async function hold(within: readonly string[]): Promise<ChildProcess> {
  const [program = "", ...args] = [...within, "unshare", ...UNSHARE, "sh", "-c", "echo ready; exec cat"];
  const holder = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  holder.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await eventually("mounts of its own", () => said.includes("ready") || undefined);
  return holder;
}

const enter = (holder: ChildProcess) => ["nsenter", "--target", `${holder.pid}`, ...ENTER];

/**
 * New mounts are a copy of those around them, and keep their devices busy. So all sandboxes of a file are copies of one
 * that was made while no other suite had anything mounted.
 */
async function makeOrigin(): Promise<readonly string[]> {
  if (!isRoot) return [];
  const release = await holdMachine();
  try {
    const origin = await hold([]);
    origin.unref();
    for (const stream of [origin.stdin, origin.stdout]) (stream as Socket | null)?.unref();
    return enter(origin);
  } finally {
    await release();
  }
}
let origin: Promise<readonly string[]> | undefined;

/** Mounts of its own that outlive every agent in them, as those of a VM do, and end with the test at the latest. */
export class Sandbox {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<Sandbox> {
    origin ??= makeOrigin();
    return new Sandbox(await hold(await origin));
  }

  command(...command: readonly string[]): readonly string[] {
    return [...enter(this.#holder), ...command];
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
