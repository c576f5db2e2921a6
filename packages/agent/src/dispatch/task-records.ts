import { mkdir, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { errorText } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Log } from "../log.ts";
import { RecordsUnreadable } from "../transports/errors.ts";

/** Upstream's `tasks.json`; the payload is the request in base64. `Started` is ours, upstream's agent skips it. */
const recordsFile = mapOf(
  open({
    TaskID: v.string(),
    Method: v.string(),
    Payload: v.nullable(v.string()),
    Started: v.optional(v.boolean()),
  }),
);

export interface TaskRecord {
  readonly id: string;
  readonly method: string;
  /** The request as it came. */
  readonly request: string;
  /** True once the work has begun, so that it may be assumed done. */
  readonly started: boolean;
}

/** The tasks that a restarted agent still has to answer for. A request may hold keys, so the file is 0600. */
export class TaskRecords {
  readonly #path: string;
  readonly #records: Map<string, TaskRecord>;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(path: string, records: Map<string, TaskRecord>) {
    this.#path = path;
    this.#records = records;
  }

  /** A file that cannot be parsed is put aside, since an agent that does not start is worse. */
  static async load(path: string, log: Log): Promise<TaskRecords> {
    const records = await readRecords(path).catch(async (cause: unknown) => {
      const aside = `${path}.unreadable`;
      await rename(path, aside).catch(() => undefined);
      log.error(errorText(RecordsUnreadable({ path, aside }, { cause })));
      return [];
    });
    return new TaskRecords(path, new Map(records.map((record) => [record.id, record])));
  }

  all(): readonly TaskRecord[] {
    return [...this.#records.values()];
  }

  /** Adds a record. Resolves once it is on disk. */
  async add(record: Omit<TaskRecord, "started">): Promise<void> {
    this.#records.set(record.id, { ...record, started: false });
    try {
      await this.#write();
    } catch (error) {
      this.#records.delete(record.id);
      throw error;
    }
  }

  async start(id: string): Promise<void> {
    const record = this.#records.get(id);
    if (record !== undefined) this.#records.set(id, { ...record, started: true });
    await this.#write();
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#records.delete(id);
    await this.#write();
  }

  /** One writer at a time; each writes what is true when its turn comes. */
  #write(): Promise<void> {
    const mine = this.#writing.then(async () => {
      const file = Object.fromEntries(this.all().map((record) => [record.id, wire(record)]));
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFileAtomic(this.#path, JSON.stringify(file));
    });
    this.#writing = mine.catch(() => undefined);
    return mine;
  }
}

const wire = (record: TaskRecord) => ({
  TaskID: record.id,
  Method: record.method,
  Payload: Buffer.from(record.request).toString("base64"),
  Started: record.started,
});

async function readRecords(path: string): Promise<readonly TaskRecord[]> {
  const text = await ifThere(readFile(path, "utf8"));
  if (text === undefined) return [];
  const checked = check(recordsFile, parseStrictJson(text, path) ?? {}, "tasks");
  if (!checked.ok) throw new Error(checked.problems.join("; "));
  return Object.entries(checked.value).map(([id, record]) => ({
    id,
    method: record.Method,
    request: Buffer.from(record.Payload ?? "", "base64").toString("utf8"),
    started: record.Started ?? true,
  }));
}
