import type { Clock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { Log } from "../log.ts";
import { AgentEnding, TooManyWaiting } from "../transports/errors.ts";
import { TaskRecords } from "./task-records.ts";

export interface TaskWork {
  readonly method: string;
  /** True if cancel_task may abort the signal; otherwise it is refused. The end of the agent always aborts it. */
  readonly cancellable: boolean;
  /** The request to record before the start, for tasks that outlive the process. */
  readonly record: string | undefined;
  /** Rejects with a text that may be shown. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

export type TaskState =
  | { readonly state: "running" }
  | { readonly state: "done"; readonly value: unknown }
  | { readonly state: "failed"; readonly error: string };

export type Cancelled = "canceled" | "unknown" | "unsupported";

export interface TasksOptions {
  /** `tasks.json`. */
  readonly path: string;
  readonly random: Random;
  readonly log: Log;
  /** Answers for recorded tasks of a former process, by method. Tasks of other methods are forgotten. */
  readonly resumed?: Readonly<Record<string, unknown>>;
  readonly limits?: Partial<Limits>;
}

interface Limits {
  /** Tasks that have not ended; more are refused. */
  readonly unfinished: number;
  /**
   * Ended tasks that are remembered, by number and by the bytes of their results. The oldest go first; the newest one
   * always stays. A Director asks within seconds, so only an agent that has run for months forgets anything.
   */
  readonly finished: number;
  readonly resultBytes: number;
}

const LIMITS: Limits = { unfinished: 1000, finished: 10_000, resultBytes: 32 << 20 };

/** Upstream's: what update_settings restarts the agent for has been stored by then. */
const RESUMED = { update_settings: "ok" };

interface Task {
  readonly work: TaskWork;
  readonly controller: AbortController;
  /** Result as JSON text, which is small and immutable. */
  outcome: { readonly ok: boolean; readonly text: string } | undefined;
  /** Callbacks that are called when the task ends. */
  readonly waiting: Set<() => void>;
}

const newTask = (work: TaskWork): Task => ({
  work,
  controller: new AbortController(),
  outcome: undefined,
  waiting: new Set(),
});

/** The tasks of this process. One worker takes them strictly in the order they came. */
export class TaskQueue {
  readonly #tasks = new Map<string, Task>();
  readonly #ended: string[] = [];
  #endedBytes = 0;
  #unfinished = 0;
  #suspended = false;
  #worker: Promise<void> = Promise.resolve();
  readonly #records: TaskRecords;
  readonly #random: Random;
  readonly #log: Log;
  readonly #limits: Limits;

  private constructor(options: TasksOptions, records: TaskRecords) {
    this.#records = records;
    this.#random = options.random;
    this.#log = options.log;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Takes up the tasks that a former process recorded and did not finish: under their ids, without running them. */
  static async open(options: TasksOptions): Promise<TaskQueue> {
    const records = await TaskRecords.load(options.path, options.log);
    const tasks = new TaskQueue(options, records);
    await tasks.#resume(options.resumed ?? RESUMED);
    return tasks;
  }

  /** Resolves to the id once the task has its place and, if it has to outlive the process, its record on disk. */
  async submit(work: TaskWork): Promise<string> {
    const { unfinished: limit } = this.#limits;
    if (this.#suspended) throw AgentEnding({});
    if (this.#unfinished >= limit) throw TooManyWaiting({ what: "tasks", limit });
    const id = this.#random.uuid();
    const task = newTask(work);
    this.#tasks.set(id, task);
    this.#unfinished++;
    const recorded =
      work.record === undefined
        ? Promise.resolve()
        : this.#records.add({ id, method: work.method, request: work.record });
    // The place in the queue is taken before the record is written: what comes later must not overtake.
    this.#worker = this.#worker
      .then(() => recorded)
      .then(
        () => this.#run(id, task),
        () => undefined,
      );
    try {
      await recorded;
    } catch (error) {
      this.#tasks.delete(id);
      this.#unfinished--;
      throw error;
    }
    return id;
  }

  find(id: string): TaskState | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    if (task.outcome === undefined) return { state: "running" };
    const told: unknown = JSON.parse(task.outcome.text);
    return task.outcome.ok ? { state: "done", value: told } : { state: "failed", error: String(told) };
  }

  /** Waits for the end of a task, though no longer than that: nor for one that cannot end here any more. */
  async ended(id: string, ms: number, clock: Clock): Promise<void> {
    const task = this.#tasks.get(id);
    if (task === undefined || task.outcome !== undefined || this.#suspended) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        cancel();
        task.waiting.delete(done);
        resolve();
      };
      const cancel = clock.after(ms, done);
      task.waiting.add(done);
    });
  }

  /** Advisory and at once; a task that has ended needs none and one that has not begun yet begins aborted. */
  cancel(id: string): Cancelled {
    const task = this.#tasks.get(id);
    if (task === undefined) return "unknown";
    if (task.outcome !== undefined) return "canceled";
    if (!task.work.cancellable) return "unsupported";
    task.controller.abort(new Error("the task was cancelled"));
    return "canceled";
  }

  /**
   * The process is about to end: nothing begins or ends from here on, and records stay. A caller that polls sees
   * `running` until the next process answers; with an earlier answer it would send its next message into the gap.
   */
  suspend(): void {
    this.#suspended = true;
    for (const task of this.#tasks.values()) for (const done of task.waiting) done();
  }

  /** Suspends and tells the work under way that the agent ends. */
  close(): void {
    this.suspend();
    for (const task of this.#tasks.values())
      if (task.outcome === undefined) task.controller.abort(new Error("the agent is ending"));
  }

  /** Resolves when everything submitted so far has ended. For tests and for an orderly end. */
  idle(): Promise<void> {
    return this.#worker;
  }

  async #run(id: string, task: Task): Promise<void> {
    if (this.#suspended) return;
    let outcome: { readonly ok: boolean; readonly text: string };
    try {
      if (task.work.record !== undefined) await this.#records.start(id);
      const value = await task.work.run(task.controller.signal);
      outcome = { ok: true, text: JSON.stringify(value ?? null) };
    } catch (error) {
      outcome = { ok: false, text: JSON.stringify(error instanceof Error ? error.message : String(error)) };
    }
    if (this.#suspended) return;
    this.#unfinished--;
    this.#end(id, task, outcome);
    if (task.work.record !== undefined) await this.#forgetRecords([id]);
  }

  #end(id: string, task: Task, outcome: { readonly ok: boolean; readonly text: string }): void {
    task.outcome = outcome;
    for (const done of task.waiting) done();
    this.#ended.push(id);
    this.#endedBytes += outcome.text.length;
    while (
      this.#ended.length > 1 &&
      (this.#ended.length > this.#limits.finished || this.#endedBytes > this.#limits.resultBytes)
    ) {
      const oldest = this.#ended.shift() as string;
      this.#endedBytes -= this.#tasks.get(oldest)?.outcome?.text.length ?? 0;
      this.#tasks.delete(oldest);
    }
  }

  async #resume(answers: Readonly<Record<string, unknown>>): Promise<void> {
    const records = this.#records.all();
    if (records.length === 0) return;
    for (const { id, method, started } of records) {
      // One that was still queued did nothing; to call it done would be a lie, and its caller can send it again.
      if (!started || !Object.hasOwn(answers, method)) {
        this.#log.warn(
          `task ${id} of the process before this one is lost: it had not begun or cannot resume`,
        );
        continue;
      }
      const work = { method, cancellable: false, record: undefined, run: () => Promise.resolve(null) };
      const task = newTask(work);
      this.#tasks.set(id, task);
      this.#end(id, task, { ok: true, text: JSON.stringify(answers[method]) });
      this.#log.info(`task ${id} (${method}) of the process before this one has ended`);
    }
    await this.#forgetRecords(records.map((record) => record.id));
  }

  /** A record that stays is only resumed once more at the next start. */
  async #forgetRecords(ids: readonly string[]): Promise<void> {
    await this.#records.remove(ids).catch((error: unknown) => {
      this.#log.warn(`the record of ended tasks could not be written: ${errorText(error)}`);
    });
  }
}
