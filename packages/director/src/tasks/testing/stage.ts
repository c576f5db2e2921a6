import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { OutputType, TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import type { Db } from "../../store/schema.ts";
import { findTask } from "../list.ts";
import { readOutput } from "../output.ts";
import { enqueue } from "../queue.ts";
import type { Works } from "../run.ts";
import { type RunnerOptions, TaskRunner } from "../runner.ts";
import type { NewTask } from "../task.ts";

export const newTask = (over: Partial<NewTask> = {}): NewTask => ({
  type: "update_deployment",
  description: "create deployment",
  user: "admin",
  deployment: "shop",
  params: {},
  ...over,
});

export const queued = (db: Db, type: TaskType = "update_deployment", params: JsonObject = {}) =>
  enqueue(db, newTask({ type, params }));

export const textOf = async (db: Db, id: number, type: OutputType): Promise<string> =>
  (await readOutput(db, id, type)).data.toString();

export type EventLine = Record<string, unknown> & { readonly error?: { code: number; message: string } };

/** Returns the event log as the CLI reads it: every line JSON, every number whole, nothing after the last newline. */
export async function eventsOf(db: Db, id: number): Promise<readonly EventLine[]> {
  const text = await textOf(db, id, "event");
  if (text !== "" && !text.endsWith("\n")) throw new Error(`the last line is not whole: ${text}`);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) =>
      JSON.parse(line, (_, value: unknown) => {
        if (typeof value === "number" && !Number.isInteger(value)) throw new Error(`a float in ${line}`);
        return value;
      }),
    );
}

export const stateOf = async (db: Db, id: number) => (await findTask(db, id))?.state;

/** Ids count from 1 again. */
export const emptyTables = (db: Db) =>
  sql`truncate tasks, task_output, locks, events restart identity cascade`.execute(db);

/** A promise with its handles. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Rejects when the signal is aborted; the way of a work that listens. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

/** Runners that are stopped after the test, whatever became of it. */
export function runnersOf(db: () => Db) {
  const runners: TaskRunner[] = [];
  const errors: unknown[] = [];
  return {
    errors,
    start: (works: Works, over: Partial<RunnerOptions> = {}): TaskRunner => {
      const runner = new TaskRunner({
        db: db(),
        works,
        clock: systemClock,
        random: systemRandom,
        alone: false,
        pollMs: 50,
        flushMs: 5,
        stopGraceMs: 0,
        // Limits for what hangs: none of them is reached, however busy the machine is.
        leaseMs: 3_600_000,
        stopUnwindMs: 120_000,
        onError: (error) => errors.push(error),
        ...over,
      });
      runners.push(runner);
      runner.start();
      return runner;
    },
    stopAll: async () => {
      await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    },
  };
}
