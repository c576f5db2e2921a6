import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open, text } from "@slipway/protocol/schema/json";
import { secret } from "@slipway/protocol/schema/marks";
import { type Registry, startRegistry } from "@slipway/registry/server";
import { RegistryStore } from "@slipway/registry/store/store";
import type * as v from "valibot";
import { RegistryAddressUnusable, RegistryCredentialsUnusable } from "./errors.ts";

/** How a CPI reaches the registry, in the words CPIs use for it. */
export interface RegistryAccess {
  readonly endpoint: string;
  readonly user: string;
  readonly password: string;
}

/** The Director's own registry, for the mixes that need one. */
export interface DirectorRegistry {
  readonly running: boolean;
  /** Starts it unless it runs. A failure is not remembered. */
  start(): Promise<RegistryAccess>;
  /** For the start of the Director: starts it when VMs have entries in it. True when it runs now. */
  resume(): Promise<boolean>;
  close(): Promise<void>;
}

export interface DirectorRegistryOptions {
  /** State directory of the Director; the registry keeps everything under `registry` in it. */
  readonly stateDir: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with the reason when a request fails on the Director's side. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 25777;
const USER = "registry";

const credentials = open({ user: text("user"), password: secret(text("password")) });
type Credentials = v.InferOutput<typeof credentials>;

export class RegistryOfDirector implements DirectorRegistry {
  readonly #options: DirectorRegistryOptions;
  #starting: Promise<{ readonly registry: Registry; readonly access: RegistryAccess }> | undefined;
  #running = false;
  #closed = false;

  constructor(options: DirectorRegistryOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#running;
  }

  async start(): Promise<RegistryAccess> {
    this.#starting ??= this.#begin();
    return (await this.#starting).access;
  }

  async resume(): Promise<boolean> {
    if (!this.#running && (await this.#entries()) > 0) await this.start();
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const started = await this.#starting?.catch(() => undefined);
    this.#running = false;
    await started?.registry.close();
  }

  get #dir(): string {
    return join(this.#options.stateDir, "registry");
  }

  get #entriesDir(): string {
    return join(this.#dir, "entries");
  }

  async #entries(): Promise<number> {
    if (!existsSync(this.#entriesDir)) return 0;
    const store = await RegistryStore.open({ dir: this.#entriesDir, clock: this.#options.clock });
    try {
      return store.size;
    } finally {
      await store.close();
    }
  }

  async #begin() {
    try {
      if (this.#closed) throw new Error("the Director is stopping: its registry is closed");
      const { host = DEFAULT_HOST, port = DEFAULT_PORT, clock, onError } = this.#options;
      // Agents get this address; from inside a VM a wildcard is the VM itself.
      if (["0.0.0.0", "::", "*"].includes(host)) throw RegistryAddressUnusable({ host });
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      const { user, password } = await this.#credentials();
      const registry = await startRegistry({
        dir: this.#entriesDir,
        host,
        port,
        users: [{ username: user, password }],
        clock,
        ...(onError !== undefined && { onError }),
      });
      this.#running = true;
      return { registry, access: { endpoint: registry.url, user, password } };
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  /** Made once: VMs carry them for as long as they live. */
  async #credentials(): Promise<Credentials> {
    const path = join(this.#dir, "credentials.json");
    const kept = await readFile(path, "utf8").catch((cause: unknown) => {
      if (systemCode(cause) === "ENOENT") return undefined;
      throw RegistryCredentialsUnusable({ path }, { cause });
    });
    if (kept === undefined) {
      const made: Credentials = { user: USER, password: this.#options.random.hex(24) };
      await writeFileAtomic(path, `${JSON.stringify(made)}\n`, 0o600);
      return made;
    }
    return readCredentials(kept, path);
  }
}

function readCredentials(source: string, path: string): Credentials {
  try {
    const checked = check(credentials, parseStrictJson(source, path), "credentials");
    if (checked.ok) return checked.value;
    throw new Error(checked.problems.join("; "));
  } catch (cause) {
    throw RegistryCredentialsUnusable({ path }, { cause });
  }
}
