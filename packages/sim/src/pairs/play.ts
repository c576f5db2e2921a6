import { AsyncLocalStorage } from "node:async_hooks";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import { judge } from "../judge/judge.ts";
import { type Records, readRecords } from "../judge/records.ts";
import { watchDeletions } from "../judge/watch-deletions.ts";
import { DirectorLife, type DirectorLifeOptions } from "../schedule/director-life.ts";
import type { Lab, LabMoment } from "../schedule/lab.ts";
import type { HeldCall } from "../schedule/scheduler.ts";
import { LIFE, prepareBase } from "./base.ts";
import type { PairOperation } from "./table.ts";

/** A call of an operation that changes something, and the locks that the operation held when it made the call. */
export interface PairPoint {
  readonly name: string;
  readonly locks: readonly string[];
}

export interface Solo {
  readonly operation: PairOperation;
  readonly points: readonly PairPoint[];
  readonly state: string;
}

export interface Played {
  readonly broken: readonly string[];
  /** Final states of the tasks, the held one first. */
  readonly states: readonly string[];
  readonly results: readonly string[];
}

/** Tries of a lock without anything else in between, after which an operation counts as waiting for it. */
const LOCK_TRIES = 2;
/** Timers that fire without a call of an operation, after which the operation waits for the held one. */
const LONGEST_WAIT = 20;

export const isChange = ({ kind }: HeldCall): boolean => kind !== "read";
const nameOf = ({ kind, name }: HeldCall): string => `${kind} ${name}`;

/** The common state of the pairs, to which every play returns. */
export class PairStage {
  readonly #lab: Lab;
  readonly #moment: LabMoment;
  readonly #files: string;
  readonly #records: Records;
  /** Problems that are there from the beginning: the VM of `sick`. */
  readonly #broken: ReadonlySet<string>;
  readonly #life: Partial<DirectorLifeOptions>;
  readonly #actors = new AsyncLocalStorage<string>();

  private constructor(
    lab: Lab,
    at: { readonly moment: LabMoment; readonly files: string; readonly records: Records },
    life: Partial<DirectorLifeOptions>,
  ) {
    this.#lab = lab;
    this.#moment = at.moment;
    this.#files = at.files;
    this.#records = at.records;
    this.#broken = new Set(judge(at.moment.world, at.records));
    this.#life = life;
    lab.actor = () => this.#actors.getStore();
    // Node follows contexts from the first use on: promises from before have none of their own.
    this.#actors.enterWith("driver");
  }

  /** Removes the rows that plays have left behind in the database. */
  vacuum(): Promise<void> {
    return this.#lab.vacuum();
  }

  /** `life`: changes the Directors that play, not the one that prepares. */
  static async open(lab: Lab, life: Partial<DirectorLifeOptions> = {}): Promise<PairStage> {
    await prepareBase(lab);
    const files = `${lab.memory}-base`;
    await cp(lab.memory, files, { recursive: true });
    const records = await readRecords(lab.admin);
    return new PairStage(lab, { moment: await lab.moment(), files, records }, life);
  }

  async #rewind(): Promise<void> {
    await this.#lab.reset(this.#moment, "keep");
    await rm(this.#lab.memory, { recursive: true, force: true });
    await cp(this.#files, this.#lab.memory, { recursive: true });
  }

  async #begin(names: readonly string[]): Promise<DirectorLife> {
    await this.#rewind();
    const queue = [...names];
    const life = await DirectorLife.begin(this.#lab, {
      ...LIFE,
      clients: watchDeletions(this.#lab.world, this.#lab.admin),
      ...this.#life,
      // Called once at the start of each task, in the asynchronous context of its work.
      journal: (journal) => {
        this.#actors.enterWith(queue.shift() ?? "further");
        return this.#life.journal?.(journal) ?? journal;
      },
    });
    life.director.start();
    await life.finish();
    return life;
  }

  #task(operation: PairOperation): NewTask {
    return operation.task(this.#records, this.#lab);
  }

  /** Runs an operation alone and notes its points. */
  async solo(operation: PairOperation): Promise<Solo> {
    const life = await this.#begin(["A"]);
    life.enqueue(this.#task(operation));
    const points: PairPoint[] = [];
    let idle = 0;
    let pending: HeldCall | undefined;
    for (;;) {
      const end = await life.drive((ready) => {
        const [gate] = ready;
        if (gate !== undefined && gate.actor === "A" && isChange(gate) && gate !== pending) {
          pending = gate;
          return "stop";
        }
        if (gate !== undefined) return { gate };
        if (life.director.load.busy > 0) return "advance";
        idle += 1;
        return idle > 2 ? "stop" : "advance";
      });
      if (end === "killed" || idle > 2) break;
      if (pending === undefined) continue;
      const { rows } = await this.#lab.admin.query<{ name: string }>("select name from locks order by name");
      points.push({ name: nameOf(pending), locks: rows.map(({ name }) => name) });
    }
    const { states } = await this.#over(life, 1);
    return { operation, points, state: states[0] ?? "" };
  }

  /** Runs one operation after the other. */
  async serial(first: PairOperation, second: PairOperation): Promise<Played> {
    const life = await this.#begin(["A", "B"]);
    life.enqueue(this.#task(first));
    await life.finish();
    life.enqueue(this.#task(second));
    await life.finish();
    return await this.#over(life, 2);
  }

  /** Holds `first` at its nth point while `second` runs as far as it can, then lets both run to their ends. */
  async interleave(first: PairOperation, nth: number, second: PairOperation): Promise<Played> {
    const life = await this.#begin(["A", "B"]);
    life.enqueue(this.#task(first));
    let passed = 0;
    let pending: HeldCall | undefined;
    await life.drive((ready) => {
      const [gate] = ready;
      if (gate?.actor === "A" && isChange(gate) && gate !== pending) {
        pending = gate;
        passed += 1;
        if (passed === nth) return "stop";
      }
      if (gate !== undefined) return { gate };
      return life.director.load.busy > 0 ? "advance" : "stop";
    });
    life.enqueue(this.#task(second));
    let tries = 0;
    let other = 0;
    let waited = 0;
    let begun = false;
    await life.drive((ready) => {
      const gate = ready.find(({ actor }) => actor !== "A");
      if (gate?.actor === "B") {
        begun = true;
        waited = 0;
        if (gate.name === "insert locks") tries += 1;
        else other += 1;
      }
      if (gate !== undefined) return { gate };
      if (life.director.load.busy < 2 && begun) return "stop";
      if (other === 0 && tries >= LOCK_TRIES) return "stop";
      waited += 1;
      if (waited > LONGEST_WAIT) return "stop";
      if (other > 0) tries = 0;
      other = 0;
      return "advance";
    });
    await life.finish();
    return await this.#over(life, 2);
  }

  async #over(life: DirectorLife, tasks: number): Promise<Played> {
    await life.end();
    const records = await readRecords(this.#lab.admin);
    const blobs = new Set(await readdir(join(this.#lab.memory, "blobs")).catch(() => []));
    const own = records.tasks.slice(this.#records.tasks.length).slice(0, tasks);
    const known = this.#broken;
    const broken = judge(this.#lab.world, records, { blobs }).filter((one) => !known.has(one));
    const errors = life.errors.map((error) => `the Director reports ${String(error)}`);
    return {
      broken: [...broken, ...errors],
      states: own.map(({ state }) => state),
      results: own.map(({ result }) => result ?? ""),
    };
  }
}
