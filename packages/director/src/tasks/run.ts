import type { Journal } from "@slipway/engine/journal/journal";
import type { Clock } from "@slipway/kernel/clock";
import { sharedAbort } from "@slipway/kernel/shared-abort";
import type { TaskType } from "@slipway/protocol/director/task";
import { addTaskEvent } from "../store/events.ts";
import { openJournal } from "../store/journal.ts";
import { LeaseLost, writeFenced } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { DirectorStopping, LockLost, UnknownWork } from "./errors.ts";
import { type EventLog, makeEventLog } from "./events.ts";
import { CANCELLED_CODE, causes, debugText, failureOf, oneLine, shortResult } from "./failure.ts";
import { cancelledMessage } from "./list.ts";
import { TaskLocks } from "./locks.ts";
import type { Notifier } from "./notifier.ts";
import { TaskOutput } from "./output.ts";
import { conversationOutput, cpiOutput, debugOutput, introduction } from "./outputs.ts";
import { type ClaimedTask, type Ending, finish, release, renew } from "./queue.ts";
import { TaskCancelled, type TaskContext, type TaskWork } from "./task.ts";
import { type Space, transientCause } from "./transient-cause.ts";
import { type RunWatch, type TaskWatch, UNWATCHED, watchedStages, watching } from "./watch.ts";

export type Works = Readonly<Partial<Record<TaskType, TaskWork>>>;

export interface RunOptions {
  readonly works: Works;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** True if no other Director can take the task: a lease that could not be renewed in time still holds. */
  readonly alone: boolean;
  readonly flushMs?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly lockExpiryMs?: number | undefined;
  /** Put around the journal of every run: by drivers that watch or break it. */
  readonly journal: (journal: Journal) => Journal;
  /** Fires when any lock is released. */
  readonly released: Notifier;
  readonly space?: Space | undefined;
  readonly watch?: TaskWatch | undefined;
  /** Receives background errors. */
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 1000;
/** Longest wait before a task that was set back is taken up again; the wait doubles each time. */
const LONGEST_SETBACK_MS = 15_000;

/** Runs a claimed task, from there to its end, or to where it is handed back. */
export class TaskRun {
  readonly task: ClaimedTask;
  readonly #db: Db;
  readonly #options: RunOptions;
  readonly #controller = sharedAbort();
  /** Ends the attempts to write the end of the task. */
  readonly #giveUp = new AbortController();
  /** The task is to go on in another run. */
  #elsewhere = false;
  /** Reason why the task is to go on later. */
  #setback: string | undefined;
  readonly #atEnd: (() => Promise<unknown>)[] = [];
  #cancelBeat = () => {};
  #cancelDeadMan = () => {};
  #over = false;
  #begun = 0;
  #watch: RunWatch = UNWATCHED;

  constructor(db: Db, task: ClaimedTask, options: RunOptions) {
    this.#db = db;
    this.task = task;
    this.#options = options;
  }

  get id(): number {
    return this.task.lease.taskId;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    this.#begun = this.#options.clock.monotonic();
    this.#watch = watching(this.task, this.#options.watch);
    this.#beat();
    this.#armDeadMan();
    try {
      await this.#runWithOutput();
    } catch (error) {
      this.#options.onError(error);
      this.#watch.ended("handed-back");
      await this.#pause();
      await this.#release();
    } finally {
      this.#over = true;
      this.#cancelBeat();
      this.#cancelDeadMan();
    }
  }

  cancel(): void {
    this.#controller.abort(new TaskCancelled(cancelledMessage(this.id)));
  }

  /** Stops the work; what it has done stands, and the next run goes on from there. */
  handBack(): void {
    this.#elsewhere = true;
    this.#controller.abort(DirectorStopping({ task: this.id }));
    this.#giveUp.abort(DirectorStopping({ task: this.id }));
  }

  #leaseLost(): void {
    this.#elsewhere = true;
    this.#controller.abort(LeaseLost({ task: this.id }));
    this.#giveUp.abort(LeaseLost({ task: this.id }));
  }

  async #runWithOutput(): Promise<void> {
    const { clock, flushMs, limitBytes, onError } = this.#options;
    const output = await TaskOutput.open(this.#db, this.task.lease, {
      clock,
      flushMs,
      limitBytes,
      onLost: () => this.#leaseLost(),
      onError,
    });
    const signal = this.#controller.signal;
    const write = (line: string) => output.append("event", line);
    const events = makeEventLog(clock, signal, write, (error) => this.#transientCause(error) !== undefined);
    const debug = debugOutput(output, clock);
    const results: string[] = [];
    const ending = await this.#work(output, events, debug, results);
    this.#watch.ended(ending?.state ?? "handed-back", ending?.result);
    if (ending !== undefined) await this.#end(output, { ...ending, output: results.join("") });
    else if (this.#setback !== undefined) await this.#waitOut(output);
    else {
      // What could not be written now is lost with this run.
      await output.flush(true).catch(onError);
      await this.#release();
    }
    output.close();
  }

  /** Hands the task back once the store takes what it has said. */
  async #waitOut(output: TaskOutput): Promise<void> {
    const { clock, onError } = this.#options;
    const wait = Math.min(RETRY_MS * 2 ** (this.task.lease.attempt - 1), LONGEST_SETBACK_MS);
    await clock.sleep(wait, this.#giveUp.signal).catch(() => undefined);
    while (!this.#giveUp.signal.aborted) {
      try {
        await output.flush(true);
        break;
      } catch (error) {
        onError(error);
        await this.#pause();
      }
    }
    await this.#release();
  }

  #transientCause(error: unknown): string | undefined {
    return transientCause(error, this.#options.space, this.#begun);
  }

  /** Undefined: the task is not over, it goes on in another run. */
  async #work(
    output: TaskOutput,
    events: EventLog,
    debug: (line: string) => void,
    results: string[],
  ): Promise<Omit<Ending, "output"> | undefined> {
    const { lease, type, params, state } = this.task;
    debug(introduction(this.task));
    if (state === "cancelling") this.cancel();
    else if (lease.attempt > 1) events.warn("The task was interrupted and goes on.");
    const locks = this.#locks(debug, events.warn);
    try {
      this.#controller.signal.throwIfAborted();
      const work = this.#options.works[type];
      if (work === undefined) throw UnknownWork({ task: lease.taskId, type });
      const text = await work(params, this.#context(output, events, debug, results, locks));
      return { state: "done", result: shortResult(text) };
    } catch (error) {
      debug(debugText(error));
      const { reason } = this.#controller.signal;
      if (error instanceof TaskCancelled || reason instanceof TaskCancelled) {
        events.error(CANCELLED_CODE, cancelledMessage(lease.taskId));
        return { state: "cancelled", result: cancelledMessage(lease.taskId) };
      }
      if (causes(error).some((one) => LeaseLost.is(one))) this.#leaseLost();
      if (this.#elsewhere) return undefined;
      this.#setback = LockLost.is(reason) ? undefined : this.#transientCause(error);
      if (this.#setback !== undefined) {
        events.warn(`${this.#setback}. The task waits and goes on by itself.`);
        return undefined;
      }
      const failure = failureOf(LockLost.is(reason) ? reason : error, lease.taskId);
      events.error(failure.code, failure.message);
      return { state: "error", result: failure.result };
    }
  }

  #locks(debug: (line: string) => void, waits: (message: string) => void): TaskLocks {
    const locks = new TaskLocks(this.#db, this.task.lease, {
      clock: this.#options.clock,
      signal: this.#controller.signal,
      expiryMs: this.#options.lockExpiryMs,
      keep: (error) => this.#elsewhere || this.#transientCause(error) !== undefined,
      onLost: (error) => this.#controller.abort(error),
      waits,
      onError: (error) => debug(debugText(error)),
      released: this.#options.released,
      audit: (event) =>
        addTaskEvent(this.#db, this.task.lease, this.task.user, {
          deployment: this.task.deployment,
          ...event,
        }),
    });
    this.#renewLocks = () => locks.renew();
    return locks;
  }

  #context(
    output: TaskOutput,
    events: EventLog,
    debug: (line: string) => void,
    results: string[],
    locks: TaskLocks,
  ): TaskContext {
    const { lease, type, user, deployment } = this.task;
    return {
      id: lease.taskId,
      type,
      user,
      deployment,
      attempt: lease.attempt,
      signal: this.#controller.signal,
      stage: watchedStages(events, this.#watch),
      warn: events.warn,
      deprecated: events.deprecated,
      debug,
      cpi: cpiOutput(output, this.task),
      conversation: conversationOutput(output, this.#watch),
      result: (document) => void results.push(`${JSON.stringify(document ?? null)}\n`),
      audit: ({ error, ...event }) =>
        addTaskEvent(this.#db, lease, user, {
          deployment,
          ...event,
          ...(error !== undefined && { error: oneLine(error) }),
        }),
      atEnd: (work) => void this.#atEnd.push(work),
      write: (work) => writeFenced(this.#db, lease, work),
      journal: this.#options.journal(openJournal(this.#db, lease)),
      withLock: (name, waitMs, work) => locks.withLock(name, waitMs, work),
    };
  }

  /** Outputs first: the CLI reads the state, then the output, and never comes back after the end. */
  async #end(output: TaskOutput, ending: Ending): Promise<void> {
    for (;;) {
      try {
        await output.end();
        if (!(await finish(this.#db, this.task.lease, ending))) return;
        for (const work of this.#atEnd) await work().catch(this.#options.onError);
        return;
      } catch (error) {
        this.#options.onError(error);
        if (this.#giveUp.signal.aborted) return this.#release();
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return this.#options.clock.sleep(RETRY_MS, this.#giveUp.signal).catch(() => undefined);
  }

  async #release(): Promise<void> {
    await release(this.#db, this.task.lease).catch(this.#options.onError);
  }

  #renewLocks: () => Promise<void> = () => Promise.resolve();

  #beat(): void {
    if (this.#over) return;
    this.#cancelBeat = this.#options.clock.after(this.#options.leaseMs / 3, () => {
      this.#renew()
        .catch(this.#options.onError)
        .finally(() => this.#beat());
    });
  }

  async #renew(): Promise<void> {
    const state = await renew(this.#db, this.task.lease, this.#options.leaseMs);
    if (this.#over) return;
    if (state === undefined) return this.#leaseLost();
    this.#armDeadMan();
    if (state === "cancelling") this.cancel();
    await this.#renewLocks();
  }

  /** Arms a timer that stops a run without a database: another Director may have begun it. */
  #armDeadMan(): void {
    this.#cancelDeadMan();
    if (this.#over || this.#options.alone) return;
    this.#cancelDeadMan = this.#options.clock.after(this.#options.leaseMs * 0.9, () => this.#leaseLost());
  }
}
