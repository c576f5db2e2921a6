import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { type Clock, isoTime } from "@slipway/kernel/clock";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { acquireLock, type Lock, LockTimeout } from "@slipway/kernel/lock-file";
import { DirectoryInUse, RegistryStopping, StateUnusable, WriteFailed } from "../errors.ts";
import { LogFile } from "./log-file.ts";
import { type Change, commitLine } from "./record.ts";

const LOG = "registry.log";
const LOCK_WAIT_MS = 500;
/** More than this in one commit would make a line that is clumsy to read back; a single larger change stays whole. */
const COMMIT_BYTES = 8 << 20;
/** Below this much garbage a rewrite is not worth its time. */
const GARBAGE_BYTES = 4 << 20;

export interface StoreOptions {
  readonly dir: string;
  readonly clock: Clock;
}

interface Entry {
  readonly settings: string;
  /** What it takes in the log. */
  readonly bytes: number;
}

interface Pending {
  readonly change: Change;
  readonly json: string;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/**
 * The entries in memory and, before that, on disk: a change is applied and acknowledged once its line is synced.
 * Changes that arrive while a sync is under way share the next one.
 */
export class RegistryStore {
  readonly #dir: string;
  readonly #lock: Lock;
  readonly #log: LogFile;
  readonly #entries: Map<string, Entry>;
  /** Where the incomplete last record was put, if there was one. */
  readonly tornTail: string | undefined;
  #liveBytes = 0;
  #rewriteAbove = 0;
  #queue: Pending[] = [];
  #committing: Promise<void> | undefined;
  #closed = false;

  private constructor(
    dir: string,
    lock: Lock,
    log: LogFile,
    entries: Map<string, Entry>,
    torn: string | undefined,
  ) {
    this.#dir = dir;
    this.#lock = lock;
    this.#log = log;
    this.#entries = entries;
    this.tornTail = torn;
    for (const entry of entries.values()) this.#liveBytes += entry.bytes;
  }

  static async open(options: StoreOptions): Promise<RegistryStore> {
    const dir = resolve(options.dir);
    const lock = await lockDirectory(dir, options.clock);
    try {
      await removeLeftovers(dir);
      const entries = new Map<string, Entry>();
      let torn: string | undefined;
      const aside = () => {
        torn = join(dir, `${LOG}.torn-${isoTime(options.clock).replace(/[-:]/g, "")}`);
        return torn;
      };
      const log = await LogFile.open(join(dir, LOG), aside, (change) =>
        apply(entries, change, jsonOf(change)),
      );
      return new RegistryStore(dir, lock, log, entries, torn);
    } catch (error) {
      await lock.release();
      throw error instanceof SlipwayError ? error : StateUnusable({ dir }, { cause: error });
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): string | undefined {
    return this.#entries.get(id)?.settings;
  }

  put(id: string, settings: string): Promise<void> {
    return this.#enqueue({ op: "put", id, settings });
  }

  delete(id: string): Promise<void> {
    return this.#enqueue({ op: "delete", id });
  }

  /** Finishes what was accepted, then lets go of the directory. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committing;
    try {
      await this.#log.close();
    } finally {
      await this.#lock.release();
    }
  }

  #enqueue(change: Change): Promise<void> {
    if (this.#closed) return Promise.reject(RegistryStopping({ dir: this.#dir }));
    return new Promise((done, failed) => {
      this.#queue.push({ change, json: jsonOf(change), done, failed });
      this.#committing ??= this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) await this.#commit(this.#takeBatch());
    this.#committing = undefined;
  }

  #takeBatch(): readonly Pending[] {
    let count = 0;
    for (let size = 0; count < this.#queue.length; count++) {
      size += this.#queue[count]?.json.length ?? 0;
      if (count > 0 && size > COMMIT_BYTES) break;
    }
    return this.#queue.splice(0, count);
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    try {
      if (this.#log.damaged) await this.#log.replace(this.#snapshot());
      await this.#log.append(commitLine(batch.map((pending) => pending.json)));
    } catch (cause) {
      const error = WriteFailed({ path: this.#log.path }, { cause });
      for (const pending of batch) pending.failed(error);
      return;
    }
    for (const pending of batch) {
      this.#liveBytes += apply(this.#entries, pending.change, pending.json);
      pending.done();
    }
    await this.#rewriteIfWorth();
  }

  async #rewriteIfWorth(): Promise<void> {
    const garbage = this.#log.length - this.#liveBytes;
    if (garbage <= Math.max(GARBAGE_BYTES, this.#liveBytes) || this.#log.length <= this.#rewriteAbove) return;
    try {
      await this.#log.replace(this.#snapshot());
      this.#rewriteAbove = 0;
    } catch {
      // The long log is as good as the short one. Not again before it has grown by half.
      this.#rewriteAbove = this.#log.length * 1.5;
    }
  }

  #snapshot(): readonly Buffer[] {
    return [...this.#entries].map(([id, { settings }]) => commitLine([jsonOf({ op: "put", id, settings })]));
  }
}

const jsonOf = (change: Change): string => JSON.stringify(change);

/** Returns by how many bytes the live part of the log grew. */
function apply(entries: Map<string, Entry>, change: Change, json: string): number {
  const before = entries.get(change.id)?.bytes ?? 0;
  if (change.op === "delete") {
    entries.delete(change.id);
    return -before;
  }
  const bytes = Buffer.byteLength(json);
  entries.set(change.id, { settings: change.settings, bytes });
  return bytes - before;
}

async function lockDirectory(dir: string, clock: Clock): Promise<Lock> {
  try {
    await syncCreated(dir, await makeDirectory(dir));
    return await acquireLock(join(dir, "registry.lock"), { clock, waitMs: LOCK_WAIT_MS });
  } catch (cause) {
    throw LockTimeout.is(cause) ? DirectoryInUse({ dir }, { cause }) : StateUnusable({ dir }, { cause });
  }
}

/** A rewrite cut short by a crash leaves its temporary file, full of settings. */
async function removeLeftovers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.startsWith(`.${LOG}.`) && name.endsWith(".tmp")) await rm(join(dir, name), { force: true });
  }
}

/** Makes directories durable up to and including the first that was created. */
async function syncCreated(directory: string, firstCreated: string | undefined): Promise<void> {
  if (firstCreated === undefined) return;
  for (let at = directory; at.length >= firstCreated.length; at = dirname(at))
    await syncDirectory(dirname(at));
}

/** The first directory that had to be made. Node's own recursive way spins for ever below /proc. */
async function makeDirectory(dir: string): Promise<string | undefined> {
  try {
    await mkdir(dir, { mode: 0o700 });
    return dir;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return undefined;
    if (systemCode(error) !== "ENOENT" || existsSync(dirname(dir))) throw error;
    const first = await makeDirectory(dirname(dir));
    await mkdir(dir, { mode: 0o700 });
    return first ?? dir;
  }
}
