import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { acquireLock, type LockFile, lockLife } from "@slipway/kernel/lock-file";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { JournalUnreadable } from "../errors.ts";
import { Journal } from "./journal.ts";

const LOCK_WAIT_MS = 2000;

const runHeader = open({
  cpi: text("the CPI"),
  arguments: v.array(v.string()),
  /** The registry, where the CPI was configured with one. */
  registry: v.nullable(open({ port: v.number(), password: text("the password") })),
  config: v.nullable(v.unknown()),
  cloud: v.unknown(),
});
/** Says how `slipway certify clean` calls the CPI of a run that was killed. */
export type RunHeader = v.InferOutput<typeof runHeader>;

/** Directory of one run, locked by its process: configurations, the registry, and the journal. */
export class RunDirectory {
  readonly #lock: LockFile;
  readonly dir: string;
  readonly journal: Journal;

  private constructor(dir: string, journal: Journal, lock: LockFile) {
    this.dir = dir;
    this.journal = journal;
    this.#lock = lock;
  }

  static async open(dir: string, clock: Clock): Promise<RunDirectory> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const lock = await acquireLock(join(dir, "lock"), { clock, waitMs: LOCK_WAIT_MS });
    return new RunDirectory(dir, await Journal.open(join(dir, "journal.jsonl")), lock);
  }

  async writeHeader(header: RunHeader): Promise<void> {
    await writeFile(join(this.dir, "run.json"), JSON.stringify(header), { mode: 0o600 });
  }

  async header(): Promise<RunHeader> {
    const path = join(this.dir, "run.json");
    const checked = check(runHeader, parseStrictJson(await readFile(path, "utf8"), path));
    if (!checked.ok) throw JournalUnreadable({ path, why: checked.problems.join("; ") });
    return checked.value;
  }

  /** Keeps the directory if something is still in the cloud. */
  async close(): Promise<void> {
    await this.journal.close();
    await this.#lock.release();
    if (this.journal.things.length === 0) await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns the directories of runs whose process is gone. */
export async function deadRuns(parent: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await readdir(parent).catch(() => [])) {
    const dir = join(parent, name);
    if ((await lockLife(join(dir, "lock"))) !== "alive") found.push(dir);
  }
  return found;
}
