import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncDirectory, writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { acquireLock, type LockFile, LockTimeout } from "@slipway/kernel/lock-file";
import { DamagedState, DirectoryInUse, RegistryStopping, StateUnusable, WriteFailed } from "../errors.ts";
import { ENTRY_FILE, entryText, fileOf, LEFTOVER, readEntry } from "./entry-file.ts";
import { readOldLog } from "./legacy-log.ts";

const OLD_LOG = "registry.log";
const LOCK_WAIT_MS = 500;

export interface RegistryStoreOptions {
  readonly dir: string;
  readonly clock: Clock;
}

/**
 * The entries in memory and, before that, on disk, each in a file of its own: a change is seen and acknowledged once it
 * is synced.
 */
export class RegistryStore {
  readonly #dir: string;
  readonly #lock: LockFile;
  readonly #entries: Map<string, string>;
  /** The last change of each id that is being changed: one comes after the other. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Ids whose change failed. Their files may have it all the same. */
  readonly #doubtful = new Set<string>();
  #closed = false;

  private constructor(dir: string, lock: LockFile, entries: Map<string, string>) {
    this.#dir = dir;
    this.#lock = lock;
    this.#entries = entries;
  }

  static async open(options: RegistryStoreOptions): Promise<RegistryStore> {
    const dir = resolve(options.dir);
    const lock = await lockDirectory(dir, options.clock);
    try {
      await takeOverLog(dir);
      return new RegistryStore(dir, lock, await readEntries(dir));
    } catch (error) {
      await lock.release();
      throw error instanceof SlipwayError ? error : StateUnusable({ dir }, { cause: error });
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): string | undefined {
    return this.#entries.get(id);
  }

  put(id: string, settings: string): Promise<void> {
    return this.#change(id, settings);
  }

  delete(id: string): Promise<void> {
    return this.#change(id, undefined);
  }

  /** Finishes what was accepted, then lets go of the directory. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#mend();
    while (this.#turns.size > 0) await Promise.allSettled(this.#turns.values());
    await this.#lock.release();
  }

  #change(id: string, settings: string | undefined): Promise<void> {
    if (this.#closed) return Promise.reject(RegistryStopping({ dir: this.#dir }));
    return this.#inTurn(id, async () => {
      try {
        await write(this.#dir, id, settings);
      } catch (cause) {
        this.#doubtful.add(id);
        throw WriteFailed({ path: this.#dir }, { cause });
      }
      if (settings === undefined) this.#entries.delete(id);
      else this.#entries.set(id, settings);
      this.#doubtful.delete(id);
      this.#mend();
    });
  }

  /** The disk writes again: files whose change was refused get what was acknowledged. */
  #mend(): void {
    for (const id of this.#doubtful)
      this.#inTurn(id, async () => {
        if (!this.#doubtful.has(id)) return;
        await write(this.#dir, id, this.#entries.get(id));
        this.#doubtful.delete(id);
      }).catch(() => undefined);
  }

  #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#turns.set(id, turn);
    const over = () => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    };
    turn.then(over, over);
    return turn;
  }
}

async function write(dir: string, id: string, settings: string | undefined): Promise<void> {
  const path = join(dir, fileOf(id));
  if (settings !== undefined) return await writeFileAtomic(path, entryText({ id, settings }));
  await ifThere(unlink(path));
  await syncDirectory(dir);
}

async function readEntries(dir: string): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    // Full of settings.
    if (LEFTOVER.test(name)) await rm(path, { force: true });
    if (!ENTRY_FILE.test(name)) continue;
    // A file put back from a backup may be readable by others; it holds passwords.
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
    const entry = readEntry(name, await readFile(path));
    if (typeof entry === "string") throw DamagedState({ where: path, why: entry });
    entries.set(entry.id, entry.settings);
  }
  return entries;
}

/** Once: the log is there until every entry of it is on the disk. One with a torn end is put aside. */
async function takeOverLog(dir: string): Promise<void> {
  const path = join(dir, OLD_LOG);
  const bytes = await ifThere(readFile(path));
  if (bytes === undefined) return;
  const { entries, torn } = readOldLog(path, bytes);
  for (const [id, settings] of entries) await write(dir, id, settings);
  await (torn ? rename(path, `${path}.torn`) : unlink(path));
  await syncDirectory(dir);
}

async function lockDirectory(dir: string, clock: Clock): Promise<LockFile> {
  try {
    await syncCreated(dir, await makeDirectory(dir));
    return await acquireLock(join(dir, "registry.lock"), { clock, waitMs: LOCK_WAIT_MS });
  } catch (cause) {
    throw LockTimeout.is(cause) ? DirectoryInUse({ dir }, { cause }) : StateUnusable({ dir }, { cause });
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
