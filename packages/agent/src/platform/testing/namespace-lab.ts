import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { holdMachine } from "@slipway/testkit/hold-machine";
import type { DriverCommand } from "./namespace-driver.ts";

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** Wraps a command to run without root. Tests that run as root drop it first. */
function unprivileged(...command: string[]): [program: string, args: string[]] {
  const inNamespace = ["unshare", "--user", "--map-root-user", "--mount", ...command];
  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...inNamespace];
  const [program = "", ...args] = isRoot ? asNobody : inNamespace;
  return [program, args];
}

export function canUseUserNamespaces(): boolean {
  const [program, args] = unprivileged("true");
  return spawnSync(program, args).status === 0;
}

/** A new user and mount namespace, made without root, with the driver in it. */
export class NamespaceLab {
  readonly base: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: string[] = [];

  readonly #release: () => Promise<void>;

  private constructor(base: string, child: ChildProcessWithoutNullStreams, release: () => Promise<void>) {
    this.base = base;
    this.#release = release;
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.on("data", (chunk: Buffer) => this.#errors.push(chunk.toString()));
  }

  static async open(): Promise<NamespaceLab> {
    const base = await mkdtemp(join(tmpdir(), "slipway-namespace-"));
    const driver = fileURLToPath(new URL("namespace-driver.ts", import.meta.url));
    const script = await bundle(driver, { format: "esm" });
    if (isRoot) await chown(base, NOBODY, NOBODY);
    await chmod(base, 0o755);
    const [program, args] = unprivileged(process.execPath, script, join(base, "vcap"));
    const release = await holdMachine();
    return new NamespaceLab(base, spawn(program, args), release);
  }

  /** Returns the driver's answer and throws its error. */
  async ask<T = null>(asked: DriverCommand): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(asked)}\n`);
    const next = await this.#lines.next();
    if (next.done) throw new Error(`the driver ended: ${this.#errors.join("")}`);
    const reply = JSON.parse(next.value) as { value?: T; error?: string; code?: string };
    if (reply.error === undefined) return reply.value as T;
    throw Object.assign(new Error(reply.error), { code: reply.code });
  }

  /** Ends the namespace; its mounts go with it. */
  async close(): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.stdin.end();
    await ended;
    await rm(this.base, { recursive: true, force: true });
    await this.#release();
  }
}
