import type { Clock } from "@slipway/kernel/clock";
import { type Schedule, turnBefore } from "@slipway/protocol/director/schedule";
import { inTransaction } from "../store/open.ts";
import { takeTurn } from "../store/scheduled-runs.ts";
import type { Db } from "../store/schema.ts";
import { enqueue } from "../tasks/queue.ts";
import type { NewTask } from "../tasks/task.ts";

/** Job that is done again and again. */
export interface ScheduledJob {
  readonly name: string;
  /** Text of the schedule; a changed text starts over. */
  readonly text: string;
  readonly schedule: Schedule;
  /** Returns the task for one turn; undefined if there is nothing to do. */
  readonly task: (db: Db) => Promise<NewTask | undefined>;
}

export interface SchedulerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly jobs: readonly ScheduledJob[];
  /** Called after a task was queued. */
  readonly wake: () => void;
  readonly onError: (error: unknown) => void;
}

const MINUTE_MS = 60_000;

/**
 * Takes the turns of scheduled jobs. A turn and its task are written together: it is taken once, whichever Directors share the
 * database and whenever they die. Of turns missed while no Director ran, the last one is made up for.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  /** Turns that are known to be taken, so that the database is not asked again. */
  readonly #known = new Map<ScheduledJob, number>();
  #cancel = () => {};
  #stopped = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Looks now, and whenever a minute begins. */
  start(): void {
    const { clock } = this.#options;
    this.#looking = this.#look().finally(() => {
      if (this.#stopped) return;
      this.#cancel = clock.after(MINUTE_MS - (clock.now() % MINUTE_MS), () => this.start());
    });
  }

  /** Stops the scheduler: no turn is taken afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { clock, jobs, wake, onError } = this.#options;
    for (const job of jobs) {
      const turn = turnBefore(job.schedule, clock.now());
      if (this.#stopped || turn === undefined || this.#known.get(job) === turn) continue;
      try {
        if (await this.#take(job, turn)) wake();
        this.#known.set(job, turn);
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Takes a turn and reports whether a task was queued. A task that is not over yet does what another would do. */
  #take(job: ScheduledJob, turn: number): Promise<boolean> {
    return inTransaction(this.#options.db, async (tx) => {
      if (!(await takeTurn(tx, job.name, job.text, turn))) return false;
      const task = await job.task(tx);
      if (task === undefined || (await isUnderWay(tx, task))) return false;
      await enqueue(tx, task);
      return true;
    });
  }
}

async function isUnderWay(db: Db, { type, user }: NewTask): Promise<boolean> {
  const found = await db
    .selectFrom("tasks")
    .select("id")
    .where("type", "=", type)
    .where("username", "=", user)
    .where("state", "in", ["queued", "processing", "cancelling"])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
