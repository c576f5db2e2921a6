import type { Journal } from "@slipway/engine/journal/journal";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { TaskState, TaskType } from "@slipway/protocol/director/task";
import type { Notice } from "../store/listen.ts";
import type { Db } from "../store/schema.ts";
import { type CancelFilter, cancelTasks, noteWaiting } from "./list.ts";
import { Notifier } from "./notifier.ts";
import { type ClaimedTask, cancelledOf, claim, enqueue } from "./queue.ts";
import { type RunOptions, TaskRun, type Works } from "./run.ts";
import type { NewTask, Tasks } from "./task.ts";
import type { Space } from "./transient-cause.ts";

/** Short questions of an operator: they must not wait behind long deploys. */
const QUICK: readonly TaskType[] = ["vms", "instances", "ssh"];
/** Types that take next to no space, or give some back. All others are not begun while there is none. */
const WITHOUT_SPACE: readonly TaskType[] = [
  "delete_deployment",
  "delete_stemcell",
  "delete_vm",
  "delete_orphaned_vms",
  "orphan_disk",
  "delete_orphan_disks",
  "scheduled_orphaned_disk_cleanup",
  "delete_orphan_networks",
  "delete_artifacts",
  "cck_scan",
];
const RUNNING: readonly TaskState[] = ["queued", "processing", "cancelling"];

export interface RunnerOptions {
  readonly db: Db;
  readonly works: Works;
  readonly clock: Clock;
  readonly random: Random;
  /** Tasks at once, beside the quick ones. Default: 4. */
  readonly workers?: number | undefined;
  readonly quickWorkers?: number | undefined;
  /** True if no other Director uses this store: what others were running is resumed at once. */
  readonly alone: boolean;
  /** Default: 30 s. */
  readonly leaseMs?: number | undefined;
  /** Interval of looking for the work and the cancels of other Directors. Default: 1 s. */
  readonly pollMs?: number | undefined;
  /** Time that `stop` waits for tasks to end before it hands them back, and then for them to let go. */
  readonly stopGraceMs?: number | undefined;
  readonly stopUnwindMs?: number | undefined;
  /** Longest time a line of output waits for others. Default: 100 ms. */
  readonly flushMs?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly lockExpiryMs?: number | undefined;
  /** Free space of what tasks write to. Without it there is always enough. */
  readonly space?: Space | undefined;
  /** Sees every run of every task. */
  readonly watch?: RunOptions["watch"];
  /** Called when tasks were canceled, or one is no longer run: what was kept for them may be of no use any more. */
  readonly onOver?: (() => void) | undefined;
  readonly onError: (error: unknown) => void;
  /** Put around the journal of every run: by drivers that watch or break it. */
  readonly journal?: ((journal: Journal) => Journal) | undefined;
}

/** Runs the tasks of a store. Several runners, in one process or many, share the work. */
export class TaskRunner implements Tasks {
  readonly #options: RunnerOptions;
  readonly #owner: string;
  readonly #runs = new Map<TaskRun, Promise<void>>();
  readonly #released = new Notifier();
  #state: "new" | "running" | "stopped" = "new";
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #cancelPoll = () => {};
  #stopping: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#owner = `director-${options.random.uuid()}`;
  }

  /** Name of this runner in tasks and leases. */
  get name(): string {
    return this.#owner;
  }

  /** Slots for tasks, and tasks that run; quick ones have slots beside these. */
  get load(): { readonly slots: number; readonly busy: number } {
    return { slots: this.#options.workers ?? 4, busy: this.#runs.size };
  }

  start(): void {
    if (this.#state !== "new") return;
    this.#state = "running";
    this.#poll();
  }

  async enqueue(task: NewTask): Promise<number> {
    const id = await enqueue(this.#options.db, task);
    this.wake();
    return id;
  }

  async cancel(id: number): Promise<boolean> {
    return (await this.cancelMany({ id, states: RUNNING })).length > 0;
  }

  async cancelMany(filter: CancelFilter): Promise<readonly number[]> {
    const ids = await cancelTasks(this.#options.db, this.#options.clock, filter);
    for (const run of this.#runs.keys()) if (ids.includes(run.id)) run.cancel();
    // Tasks that are being claimed just now, or that no runner has.
    if (ids.length > 0) {
      this.wake();
      this.#options.onOver?.();
    }
    return ids;
  }

  /** Handles a change that the database announces. */
  notice(what: Notice): void {
    if (what === "tasks") this.wake();
    else this.#released.notify();
  }

  /** Looks for something to do. */
  wake(): void {
    void this.#look();
  }

  /** Waits for running tasks a little, hands back the rest. They stay `processing` and go on at the next start. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#state = "stopped";
    this.#cancelPoll();
    await this.#looking;
    await this.#allOver(this.#options.stopGraceMs ?? 5000);
    for (const run of this.#runs.keys()) run.handBack();
    // Work that does not end keeps its lease until that expires: it is not run a second time meanwhile.
    await this.#allOver(this.#options.stopUnwindMs ?? 10_000);
  }

  async #allOver(withinMs: number): Promise<void> {
    if (this.#runs.size === 0 || withinMs <= 0) return;
    const enough = new AbortController();
    const time = this.#options.clock.sleep(withinMs, enough.signal).catch(() => undefined);
    await Promise.race([Promise.all(this.#runs.values()), time]);
    enough.abort();
  }

  #poll(): void {
    if (this.#state !== "running") return;
    void this.#look().finally(() => {
      if (this.#state !== "running") return;
      this.#cancelPoll = this.#options.clock.after(this.#options.pollMs ?? 1000, () => this.#poll());
    });
  }

  #look(): Promise<void> {
    if (this.#state !== "running") return Promise.resolve();
    this.#lookAgain = true;
    this.#looking ??= this.#lookUntilQuiet();
    return this.#looking;
  }

  /** Looks for tasks, one at a time: a task is among the runs before the next look. */
  async #lookUntilQuiet(): Promise<void> {
    while (this.#lookAgain && this.#state === "running") {
      this.#lookAgain = false;
      try {
        await this.#fill(false, this.#options.workers ?? 4);
        await this.#fill(true, this.#options.quickWorkers ?? 2);
        await this.#tellCancelled();
      } catch (error) {
        this.#options.onError(error);
      }
    }
    // At once, not when the promise is settled: a wake in between would be lost.
    this.#looking = undefined;
  }

  async #fill(quick: boolean, slots: number): Promise<void> {
    const { db, alone, clock, space, onError } = this.#options;
    const taken = () =>
      [...this.#runs.keys()].filter((run) => QUICK.includes(run.task.type) === quick).length;
    while (this.#state === "running" && taken() < slots) {
      const shortage = quick ? undefined : space?.shortage();
      if (shortage !== undefined)
        await noteWaiting(db, clock, [...QUICK, ...WITHOUT_SPACE], `${shortage}. The task waits.`).catch(
          onError,
        );
      const task = await claim(db, {
        owner: this.#owner,
        leaseMs: this.#leaseMs(),
        types: shortage === undefined ? QUICK : WITHOUT_SPACE,
        others: !quick && shortage === undefined,
        cancelled: !quick,
        running: [...this.#runs.keys()].map((run) => run.id),
        alone,
      });
      if (task === undefined) return;
      this.#launch(task);
    }
  }

  #launch(task: ClaimedTask): void {
    const { db, works, clock, alone, flushMs, limitBytes, lockExpiryMs, space, watch, onError } =
      this.#options;
    const options: RunOptions = {
      released: this.#released,
      journal: this.#options.journal ?? ((journal) => journal),
      works,
      clock,
      leaseMs: this.#leaseMs(),
      alone,
      flushMs,
      limitBytes,
      lockExpiryMs,
      space,
      watch,
      onError,
    };
    const run = new TaskRun(db, task, options);
    const over = run.run().finally(() => {
      this.#runs.delete(run);
      this.#options.onOver?.();
      this.wake();
    });
    this.#runs.set(run, over);
  }

  async #tellCancelled(): Promise<void> {
    if (this.#runs.size === 0) return;
    const cancelled = await cancelledOf(this.#options.db, this.#owner);
    for (const run of this.#runs.keys()) if (cancelled.includes(run.id)) run.cancel();
  }

  #leaseMs(): number {
    return this.#options.leaseMs ?? 30_000;
  }
}
