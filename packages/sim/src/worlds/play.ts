import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import { stemcellFile } from "../crash/scenarios/stemcell-file.ts";
import { stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../director/manifests.ts";
import { judge } from "../judge/judge.ts";
import { readRecords } from "../judge/records.ts";
import { watchDeletions } from "../judge/watch-deletions.ts";
import { DirectorLife, type DirectorLifeOptions, type DriverMove } from "../schedule/director-life.ts";
import type { Lab } from "../schedule/lab.ts";
import type { HeldCall } from "../schedule/scheduler.ts";
import { Faults } from "./faulty-clients.ts";
import { mismatches } from "./matches.ts";
import { ACTS, type OperatorAction, type Operators } from "./operators.ts";
import { chance, type HistoryPlan, isUpload } from "./plan.ts";
import { deployOf } from "./sketches.ts";

export interface History {
  readonly broken: readonly string[];
  /** All calls in the order in which they ran: the same plan gives the same ones. */
  readonly trace: readonly string[];
  /** Events of the history, for people. */
  readonly story: readonly string[];
  readonly steps: number;
  readonly kills: number;
  readonly faults: number;
}

/** More calls than any history makes. */
const MOST_STEPS = 30_000;
/** Timers in a row without a call, after which the Director hangs. */
const MOST_ADVANCES = 5_000;
/** Looks for work of an idle Director, after which it has none. */
const IDLE_ADVANCES = 1;
/** Real time for an archive to be unpacked, while nothing else runs. */
const UPLOAD_MS = 300;
/** Real time for templates to be packed. */
const JOBS_MS = 5;

/** Plays histories in a lab. `change`: alters the Directors, for planted faults. */
export class HistoryPlayer {
  readonly #lab: Lab;
  readonly #change: Partial<DirectorLifeOptions>;

  constructor(lab: Lab, change: Partial<DirectorLifeOptions> = {}) {
    this.#lab = lab;
    this.#change = change;
  }

  async play(plan: HistoryPlan): Promise<History> {
    await this.#lab.reset();
    this.#lab.scheduler.patienceMs = 0;
    return await new Play(this.#lab, plan, this.#change).run();
  }
}

class Play {
  readonly #lab: Lab;
  readonly #plan: HistoryPlan;
  readonly #change: Partial<DirectorLifeOptions>;
  readonly #faults: Faults;
  readonly #schedule: ReturnType<typeof chance>;
  readonly #trace: string[] = [];
  readonly #story: string[] = [];
  readonly #sketches = new Map<string, ManifestSketch>();
  readonly #lost = new Set<string>();
  readonly #kills: HistoryPlan["kills"][number][];
  #lives = 0;
  #steps = 0;
  #sinceOperator = 0;
  #killed = 0;
  #idle = 0;
  #advances = 0;

  constructor(lab: Lab, plan: HistoryPlan, change: Partial<DirectorLifeOptions>) {
    this.#lab = lab;
    this.#plan = plan;
    this.#change = change;
    this.#faults = new Faults(lab.world, plan);
    this.#schedule = chance(`schedule ${plan.seed}`);
    this.#kills = [...plan.kills].sort((a, b) => a.step - b.step);
  }

  async run(): Promise<History> {
    let broken: readonly string[];
    try {
      broken = await this.#live();
    } catch (error) {
      await this.#lab.killStore();
      broken = [error instanceof Error ? error.message : String(error)];
    }
    return {
      broken,
      trace: this.#trace,
      story: this.#story,
      steps: this.#steps,
      kills: this.#killed,
      faults: this.#faults.struck.length,
    };
  }

  async #live(): Promise<readonly string[]> {
    const { scheduler } = this.#lab;
    scheduler.isWorking = () => life.director.load.busy > 0;
    let life = await this.#begin();
    const waiting = [...this.#plan.operators];
    for (;;) {
      const next = waiting[0];
      const end = await life.drive((ready) => this.#choose(ready, life, next?.after));
      if (end === "killed") {
        this.#killed += 1;
        this.#story.push("the Director is killed, and another starts");
        life = await this.#begin();
        continue;
      }
      this.#errorsOf(life);
      if (next === undefined) break;
      waiting.shift();
      await this.#operate(next, life);
    }
    this.#faults.areOn = false;
    const found = await this.#judge();
    if (found.length > 0) {
      await life.end();
      return found;
    }
    return await this.#converge(life);
  }

  /** A Director's own troubles are told in the story: a task that fails for them is judged by its outcome. */
  #errorsOf(life: DirectorLife): void {
    for (const error of life.errors.splice(0)) this.#story.push(`the Director reports ${String(error)}`);
  }

  async #begin(): Promise<DirectorLife> {
    this.#lives += 1;
    const { cpi, snapshots, seed } = this.#plan;
    const watch = watchDeletions(this.#lab.world, this.#lab.admin);
    const life = await DirectorLife.begin(this.#lab, {
      ...{ seed: `${seed} ${this.#lives}`, cpi, snapshots, dns: false },
      clients: (clients) => this.#faults.clients(watch(clients)),
      ...this.#change,
    });
    life.director.start();
    return life;
  }

  #choose(ready: readonly HeldCall[], life: DirectorLife, after: number | null | undefined): DriverMove {
    if (this.#steps > MOST_STEPS || this.#advances > MOST_ADVANCES)
      throw new Error(`the Director does not come to an end: ${ready.map(({ name }) => name).join(", ")}`);
    // An idle Director still looks for tasks every second.
    if (life.director.load.busy > 0) this.#idle = 0;
    if (typeof after === "number" && this.#sinceOperator >= after) return "stop";
    if (ready.length === 0) {
      if (life.director.load.busy === 0) this.#idle += 1;
      if (this.#idle > IDLE_ADVANCES) return "stop";
      this.#advances += 1;
      return "advance";
    }
    const { disorder } = this.#plan;
    const gate = disorder > 0 && this.#schedule.hits(disorder) ? this.#schedule.pick(ready) : ready[0];
    if (gate === undefined) throw new Error("bug: nothing is ready");
    // A call that takes long: time passes while it is under way.
    if (disorder > 0 && gate.kind !== "read" && this.#schedule.hits(0.01)) return "advance";
    this.#steps += 1;
    this.#sinceOperator += 1;
    this.#advances = 0;
    this.#trace.push(`${gate.kind} ${gate.name}`);
    const [kill] = this.#kills;
    if (kill === undefined || kill.step > this.#steps || !this.#faults.areOn) return { gate };
    this.#kills.shift();
    return { gate, kills: kill.when };
  }

  async #operate({ id, kind }: HistoryPlan["operators"][number], life: DirectorLife): Promise<void> {
    this.#sinceOperator = 0;
    this.#idle = 0;
    const known: Operators = {
      id,
      lab: this.#lab,
      records: await readRecords(this.#lab.admin),
      problems: await this.#problems(),
      sketches: this.#sketches,
      release: "1",
      lost: this.#lost,
      snapshots: this.#plan.snapshots,
    };
    const deed: OperatorAction = await ACTS[kind](known, chance(`operator ${this.#plan.seed} ${id}`));
    this.#story.push(`${kind}: ${describe(deed)}`);
    const hasJobs = [...this.#sketches.values()].some(({ groups }) =>
      groups.some(({ jobs = [] }) => jobs.length > 0),
    );
    this.#lab.scheduler.patienceMs = isUpload(kind) ? UPLOAD_MS : hasJobs ? JOBS_MS : 0;
    if (deed === undefined) return;
    if ("task" in deed) life.enqueue(deed.task);
    else life.cancel(deed.cancel);
  }

  async #problems(): Promise<Operators["problems"]> {
    const { rows } = await this.#lab.admin.query<Operators["problems"][number]>(
      `select p.id::int as id, d.name as deployment, p.type from problems p
       join deployments d on d.id = p.deployment_id where p.state = 'open' order by p.id`,
    );
    return rows;
  }

  async #judge(): Promise<readonly string[]> {
    const records = await readRecords(this.#lab.admin);
    for (const { id, type, state, result } of records.tasks)
      this.#story.push(`task ${id} ${type}: ${state}, ${result}`);
    const blobs = new Set(await readdir(join(this.#lab.memory, "blobs")).catch(() => []));
    return judge(this.#lab.world, records, { blobs }).filter(
      (what) => ![...this.#lost].some((cid) => what.includes(cid)),
    );
  }

  /**
   * Without faults, deploys of what was last asked for succeed, and the world is as the manifests say. The first one may
   * fail: it meets a half-made VM whose agent is dead or which is gone, and removes it. The second one may not.
   */
  async #converge(life: DirectorLife): Promise<readonly string[]> {
    const broken: string[] = [];
    for (const [name, asked] of this.#sketches) {
      const sketch = await this.#deployable(asked);
      const start = { ...stateTask("started", { fix: true }), deployment: name };
      const tasks = [...(await this.#missingStemcell()), deployOf(sketch, "1", { fix: true }), start];
      for (const task of tasks) {
        if (task === start && !(await this.#isStopped(name))) continue;
        const failed = (await this.#run(task, life)) && (await this.#run(task, life));
        if (failed !== undefined) broken.push(`the last deploy of ${name} ended as ${failed}`);
      }
      if (broken.length > 0) break;
      broken.push(...mismatches(sketch, this.#lab.world, await readRecords(this.#lab.admin)));
    }
    this.#errorsOf(life);
    await life.end();
    return [...broken, ...(await this.#judge())];
  }

  /** Runs a task to its end. Returns undefined if it succeeded, and else how it ended. */
  async #run(task: NewTask, life: DirectorLife): Promise<string | undefined> {
    life.enqueue(task);
    await life.drive((ready) => this.#choose(ready, life, undefined));
    this.#idle = 0;
    const last = (await readRecords(this.#lab.admin)).tasks.at(-1);
    return last?.state === "done" ? undefined : `${last?.state}: ${last?.result}`;
  }

  async #isStopped(name: string): Promise<boolean> {
    const { instances } = await readRecords(this.#lab.admin);
    return instances.some(({ deployment, state }) => deployment === name && state !== "started");
  }

  /** An upload, when operators have removed every stemcell. */
  async #missingStemcell(): Promise<readonly NewTask[]> {
    if ((await this.#stemcells()).length > 0) return [];
    const path = join(this.#lab.uploadsDir, "last.tgz");
    await writeFile(path, await stemcellFile("sim", "1.1"));
    this.#lab.scheduler.patienceMs = UPLOAD_MS;
    return [taskOf("update_stemcell", { path, fix: false })];
  }

  /** Versions of the stemcells that are there, and that no deletion has claimed. */
  async #stemcells(): Promise<readonly string[]> {
    const { stemcells, claimed } = await readRecords(this.#lab.admin);
    return stemcells.filter(({ cid }) => !claimed.includes(cid)).map(({ name }) => name.split("/")[1] ?? "");
  }

  /** The manifest with a stemcell that is there or will be, and without jobs. */
  async #deployable(sketch: ManifestSketch): Promise<ManifestSketch> {
    const there = await this.#stemcells();
    const stemcell = there.includes(sketch.stemcell ?? "1.1") ? sketch.stemcell : (there[0] ?? "1.1");
    const groups = sketch.groups.map((group) => ({ ...group, jobs: [] }));
    return { ...sketch, groups, ...(stemcell !== undefined && { stemcell }) };
  }
}

function describe(deed: OperatorAction): string {
  if (deed === undefined) return "nothing to do";
  if ("cancel" in deed) return `cancels task ${deed.cancel}`;
  const { type, deployment, params } = deed.task;
  return `${type} of ${deployment} ${JSON.stringify(params)}`;
}
