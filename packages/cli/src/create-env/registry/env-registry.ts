import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DirectorRegistry, RegistryAccess } from "@slipway/engine/clouds/registry-of-director";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { basicAuth, HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { freePort } from "@slipway/kernel/ports";
import type { Random } from "@slipway/kernel/random";
import { readConfig } from "@slipway/registry/config";
import { RegistryNotRunning } from "../errors.ts";
import { processesWith } from "./find-process.ts";

export interface EnvRegistryOptions {
  /** Everything of it is kept here: configuration, entries, log. */
  readonly dir: string;
  /** The executable of the registry. */
  readonly program: string;
  /** Returns the address at which the VM finds the registry; called once, if there is no registry yet. */
  readonly host: () => Promise<string>;
  readonly clock: Clock;
  readonly random: Random;
}

const USER = "registry";
const STARTS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 15_000;
const PAUSE_MS = 25;
const ANSWER_MS = 2_000;

/**
 * The registry of one environment: a process of its own that outlives the command, for as long as the VM has its
 * settings from it. Its port and password are chosen once; the VM knows them.
 */
export class EnvRegistry implements DirectorRegistry {
  readonly #options: EnvRegistryOptions;
  #access: Promise<RegistryAccess> | undefined;

  constructor(options: EnvRegistryOptions) {
    this.#options = options;
  }

  /** True if a VM may have an entry in the registry. */
  get running(): boolean {
    return existsSync(this.#config);
  }

  /** The one that runs, or one started with the entries that were kept. */
  async start(): Promise<RegistryAccess> {
    this.#access ??= this.#begin();
    try {
      return await this.#access;
    } catch (error) {
      this.#access = undefined;
      throw error;
    }
  }

  async resume(): Promise<boolean> {
    if (this.running) await this.start();
    return this.running;
  }

  /** Does nothing: the registry's process outlives this one. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** No VM needs it any more: the process is ended, and what it kept is removed. */
  async end(): Promise<void> {
    this.#access = undefined;
    await this.#kill("SIGTERM", STOPS_WITHIN_MS);
    await this.#kill("SIGKILL", STOPS_WITHIN_MS);
    await rm(this.#options.dir, { recursive: true, force: true });
  }

  get #config(): string {
    return join(this.#options.dir, "config.json");
  }

  async #begin(): Promise<RegistryAccess> {
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if (!this.running) await this.#configure();
    const { host = "127.0.0.1", port = 0, users } = await readConfig(this.#config);
    const [user] = users;
    if (user === undefined) throw RegistryNotRunning({ dir, why: "its configuration names no user" });
    const access = {
      endpoint: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      user: user.username,
      password: user.password,
    };
    if ((await processesWith(this.#config)).length === 0) await this.#spawn();
    await this.#untilItAnswers(access);
    return access;
  }

  async #configure(): Promise<void> {
    const { random } = this.#options;
    const host = await this.#options.host();
    const http = { host, port: await freePort(random), user: USER, password: random.hex(24) };
    await writeFileAtomic(this.#config, `${JSON.stringify({ http, dir: "entries" }, null, 2)}\n`, 0o600);
  }

  async #spawn(): Promise<void> {
    const log = await open(join(this.#options.dir, "registry.log"), "a", 0o600);
    try {
      const child = spawn(process.execPath, [this.#options.program, "--config", this.#config], {
        cwd: "/",
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
      });
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", resolve);
        child.once("error", reject);
      });
      child.unref();
    } catch (cause) {
      throw RegistryNotRunning({ dir: this.#options.dir, why: "it cannot be started" }, { cause });
    } finally {
      await log.close();
    }
  }

  async #untilItAnswers(access: RegistryAccess): Promise<void> {
    const { clock, dir } = this.#options;
    const started = clock.monotonic();
    while (!(await answers(access, clock))) {
      const alive = (await processesWith(this.#config)).length > 0;
      if (!alive || clock.monotonic() - started > STARTS_WITHIN_MS) {
        const said = (await readFile(join(dir, "registry.log"), "utf8").catch(() => "")).trim().slice(-400);
        const what = alive ? "it does not answer" : "it ended by itself";
        throw RegistryNotRunning({ dir, why: said === "" ? what : `${what}; it said: ${said}` });
      }
      await clock.sleep(PAUSE_MS);
    }
  }

  async #kill(signal: "SIGTERM" | "SIGKILL", withinMs: number): Promise<void> {
    const { clock } = this.#options;
    const started = clock.monotonic();
    for (let told = new Set<number>(); ; ) {
      const pids = await processesWith(this.#config);
      if (pids.length === 0 || clock.monotonic() - started > withinMs) return;
      for (const pid of pids) if (!told.has(pid)) tell(pid, signal);
      told = new Set(pids);
      await clock.sleep(PAUSE_MS);
    }
  }
}

function tell(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in this moment.
  }
}

/** Returns true if our registry answers. Another registry would refuse the password instead of reporting a missing entry. */
async function answers({ endpoint, user, password }: RegistryAccess, clock: Clock): Promise<boolean> {
  try {
    const reply = await requestOnce(
      { origin: endpoint, clock },
      {
        method: "GET",
        path: "/instances/is-anybody-there/settings",
        headers: { authorization: basicAuth(user, password) },
        withinMs: ANSWER_MS,
      },
    );
    reply.discard();
    return reply.status === 404;
  } catch (error) {
    if (error instanceof HttpTrouble) return false;
    throw error;
  }
}
