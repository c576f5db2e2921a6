import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, open, readFile, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { identityOf, lifeOf, ownIdentity, type ProcessIdentity } from "@slipway/kernel/process-identity";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import { NatsServerFailed, NatsServerMissing } from "./errors.ts";

export interface ServerProcessOptions {
  readonly program: string;
  /** Directory of its files: configuration, log, process identity. */
  readonly dir: string;
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly warn: (line: string) => void;
}

/** Time to be ready with thousands of users on a busy machine; one that ends is not waited for. */
const READY_MS = 60_000;
const STOP_MS = 5_000;
const PAUSE_MS = 50;
/** A server that ends again and again is started again more and more seldom. */
const LONGEST_PAUSE_MS = 30_000;
const LARGEST_LOG = 4 << 20;

const identity = v.object({ pid: v.number(), started: v.string(), boot: v.string(), namespace: v.string() });

/** Runs a nats-server that lives with the Director: starts it again when it ends, and reloads a changed configuration. */
export class ServerProcess {
  readonly configFile: string;
  readonly #options: ServerProcessOptions;
  readonly #identityFile: string;
  readonly #logFile: string;
  readonly #closed = new AbortController();
  #child: ChildProcess | undefined;
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.configFile = join(options.dir, "nats.conf");
    this.#identityFile = join(options.dir, "process.json");
    this.#logFile = join(options.dir, "nats-server.log");
  }

  /** Resolves when it takes connections. One that a killed Director has left is ended before. */
  async start(): Promise<void> {
    await this.#endLeftover();
    await this.#launch();
    this.#supervision = this.#supervise();
  }

  /** Makes the server read its configuration again. Agents that may stay remain connected. */
  reload(): void {
    this.#child?.kill("SIGHUP");
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#stop(this.#child);
    await this.#supervision;
    await rm(this.#identityFile, { force: true });
  }

  async #supervise(): Promise<void> {
    const { clock, warn } = this.#options;
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; ) {
      const child = this.#child;
      const since = clock.monotonic();
      if (child !== undefined && !isOver(child)) await once(child, "exit");
      if (signal.aborted) return;
      failures = clock.monotonic() - since > LONGEST_PAUSE_MS ? 1 : failures + 1;
      warn("the NATS server has ended; it is started again");
      await clock.sleep(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failures), signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#launch().catch((error: unknown) =>
        warn(error instanceof Error ? error.message : "it failed"),
      );
    }
  }

  async #launch(): Promise<void> {
    const { program, clock, host, port } = this.#options;
    const log = await this.#openLog();
    const from = (await log.stat()).size;
    let failure: unknown;
    let child: ChildProcess;
    try {
      child = spawn(program, ["-c", this.configFile], { stdio: ["ignore", log.fd, log.fd] });
      child.once("error", (error) => {
        failure = error;
      });
    } finally {
      await log.close();
    }
    this.#child = child;
    if (child.pid !== undefined)
      await writeFileAtomic(this.#identityFile, `${JSON.stringify(identityOf(child.pid))}\n`);
    const deadline = clock.monotonic() + READY_MS;
    for (;;) {
      if (failure !== undefined)
        throw isMissing(failure, program)
          ? NatsServerMissing({ program })
          : NatsServerFailed({ log: this.#logFile, said: systemCode(failure) ?? "it" }, { cause: failure });
      const over = isOver(child);
      if (!over && (await greets(host, port))) return;
      if (over || clock.monotonic() > deadline) {
        await this.#stop(child);
        throw NatsServerFailed({ log: this.#logFile, said: await this.#lastWords(from) });
      }
      await clock.sleep(PAUSE_MS, this.#closed.signal);
    }
  }

  async #stop(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined || child.pid === undefined || isOver(child)) return;
    const ended = once(child, "exit");
    const cancel = this.#options.clock.after(STOP_MS, () => child.kill("SIGKILL"));
    child.kill("SIGTERM");
    await ended;
    cancel();
  }

  async #endLeftover(): Promise<void> {
    const { clock } = this.#options;
    const left = await this.#leftover();
    const self = ownIdentity();
    for (let tries = 0; left !== undefined && lifeOf(left, self) === "alive"; tries++) {
      process.kill(left.pid, tries * PAUSE_MS > STOP_MS ? "SIGKILL" : "SIGTERM");
      await clock.sleep(PAUSE_MS);
    }
  }

  async #leftover(): Promise<ProcessIdentity | undefined> {
    const text = await ifThere(readFile(this.#identityFile, "utf8"));
    if (text === undefined) return undefined;
    try {
      const checked = check(identity, parseStrictJson(text, this.#identityFile), "process");
      return checked.ok ? checked.value : undefined;
    } catch {
      return undefined;
    }
  }

  async #openLog(): Promise<FileHandle> {
    const found = await ifThere(stat(this.#logFile));
    return await open(this.#logFile, (found?.size ?? 0) > LARGEST_LOG ? "w" : "a", 0o600);
  }

  async #lastWords(from: number): Promise<string> {
    const text = (await ifThere(readFile(this.#logFile))) ?? Buffer.alloc(0);
    const said = text.subarray(from).toString("utf8").trim().split("\n").slice(-3).join("; ");
    return said === "" ? "it said nothing" : said.slice(-500);
  }
}

const isOver = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const ANYWHERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Reports whether a NATS server answers: it speaks first. */
function greets(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: ANYWHERE[host] ?? host, port });
    const say = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (data) => say(data.toString("latin1").startsWith("INFO ")));
    socket.once("error", () => say(false));
    socket.once("close", () => resolve(false));
    socket.setTimeout(1_000, () => say(false));
  });
}

/** A program that is looked for is refused instead when a directory of PATH may not be looked into. */
const isMissing = (failure: unknown, program: string): boolean =>
  systemCode(failure) === "ENOENT" || (systemCode(failure) === "EACCES" && !program.includes("/"));
