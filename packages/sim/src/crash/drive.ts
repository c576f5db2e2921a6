import { systemClock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import { brokenInvariants } from "../world/invariants.ts";
import type { BegunStep, ChildReport, EndedTask, Job, Mutant } from "./child-order.ts";
import type { Lane } from "./lane.ts";
import { outcomeDifferences, outcomeOf } from "./outcome.ts";
import type { Passed, PointId } from "./points.ts";
import type { CrashScenario, Move } from "./scenario.ts";
import { type Moment, Stage } from "./stage.ts";

export interface Broken {
  readonly scenario: string;
  /** Its name and how often it was passed, or the time of the kill. */
  readonly point: string;
  readonly what: readonly string[];
}

/** A scenario brought to the moment before its move, and the points that move passes. */
export interface Prepared {
  readonly scenario: CrashScenario;
  readonly start: Moment;
  /** How many tasks there are then. */
  readonly tasksBefore: number;
  readonly points: readonly Passed[];
  readonly steps: readonly BegunStep[];
  /** How long the move took in a process of its own, its start included. */
  readonly tookMs: number;
  /** How its tasks end without a crash, in order. */
  readonly states: readonly string[];
  readonly outcome: object;
  /** What the disks in use hold: no crash may change it. */
  readonly data: ReadonlySet<string>;
  /** The disks it is to delete. */
  readonly deletes: readonly string[];
}

/** What a Director that was killed leaves, and what it was to do. */
export interface Death {
  /** Where or when. */
  readonly point: string;
  readonly left: Moment;
  readonly job: Job;
}

export const pointText = ({ name, nth }: PointId): string => `${name} (${nth})`;

/** Fails when the scenario is not as it should be without any crash, or takes another way at another pace. */
export async function prepare(
  lane: Lane,
  scenario: CrashScenario,
  paces: "one" | "two" = "two",
): Promise<Prepared> {
  const stage = await Stage.fresh(lane, scenario);
  for (const move of scenario.before) await make(move, stage, scenario.name);
  stage.passDays(scenario.daysLater ?? 0);
  const view = await stage.view();
  const deletes = scenario.deletes?.(view) ?? [];
  const kept = [...stage.world.disks.values()].filter(({ cid }) => !deletes.includes(cid));
  const data = new Set(kept.flatMap((disk) => disk.data ?? []));
  const start = await stage.moment();
  const tasksBefore = (await stage.tasks()).length;
  const { report, rehearsal, tookMs } = await rehearse(lane, scenario, start);
  const states = report.tasks.map(({ state }) => state);
  const { points, steps } = report;
  const prepared = {
    scenario,
    start,
    tasksBefore,
    points,
    steps,
    tookMs,
    states,
    outcome: {},
    data,
    deletes,
  };
  const ended = "task" in scenario.move ? (scenario.move.ends ?? "done") : undefined;
  const last = report.tasks.at(-1);
  const wrong = ended === undefined || last?.state === ended ? [] : [`task ${last?.id}: ${last?.result}`];
  const broken = [...wrong, ...(await inspect(prepared, rehearsal)), ...lostData(prepared, rehearsal)];
  if (broken.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${broken.join("; ")}`);
  const end = await rehearsal.view();
  const outcome = outcomeOf(scenario, scenario.goesBack === undefined ? end : view, data);
  const unmet = scenario.expects?.(end) ?? [];
  if (unmet.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${unmet.join("; ")}`);
  if (paces === "two") await rehearseUneven(lane, scenario, start, report);
  return { ...prepared, outcome };
}

const REHEARSALS = 3;

interface Rehearsed {
  readonly report: ChildReport;
  readonly rehearsal: Stage;
  readonly tookMs: number;
}

/**
 * The move without a crash. The database numbers the transactions that change something: no more than those that were seen,
 * or some of them have no points. Nothing else uses the server meanwhile, but it may tidy up: then it is tried again.
 */
async function rehearse(lane: Lane, scenario: CrashScenario, start: Moment): Promise<Rehearsed> {
  for (let tries = 1; ; tries++) {
    const rehearsal = await Stage.at(lane, scenario, start);
    const job = await jobOf(scenario.move, rehearsal);
    const before = await lane.numberedTransactions();
    const since = systemClock.monotonic();
    const report = await rehearsal.runChild({ jobs: [job] });
    const tookMs = systemClock.monotonic() - since;
    const numbered = (await lane.numberedTransactions()) - before;
    if (report === "killed") throw new Error(`${scenario.name}: somebody killed the Director`);
    if (numbered <= report.transactions) return { report, rehearsal, tookMs };
    if (tries === REHEARSALS)
      throw new Error(
        `${scenario.name}: the database has seen ${numbered} transactions that change something, of which only ${report.transactions} have crash points`,
      );
  }
}

/** The move once more, at another pace. A point that is not passed then may never be found, or be another one. */
async function rehearseUneven(
  lane: Lane,
  scenario: CrashScenario,
  start: Moment,
  { points }: ChildReport,
): Promise<void> {
  const rehearsal = await Stage.at(lane, scenario, start);
  const job = await jobOf(scenario.move, rehearsal);
  const report = await rehearsal.runChild({ jobs: [job], uneven: scenario.name });
  if (report === "killed") throw new Error(`${scenario.name}: somebody killed the Director`);
  const texts = (these: readonly PointId[]) => new Set(these.map(pointText));
  const [here, there] = [texts(points), texts(report.points)];
  const only = [...here].filter((one) => !there.has(one));
  const more = [...there].filter((one) => !here.has(one));
  if (only.length + more.length > 0)
    throw new Error(
      `${scenario.name}: which points it passes depends on how fast it is: ${[...only, ...more].join("; ")}`,
    );
}

/**
 * The move, held at each of these points in turn: a process that stands still leaves what one leaves that is killed there.
 * At the last it really is. Points that it does not come to are missing. `failed`: it ended in some other way.
 */
export async function dieAtEach(
  lane: Lane,
  { scenario, start }: Prepared,
  points: readonly PointId[],
  mutant?: Mutant,
): Promise<{ readonly deaths: readonly Death[]; readonly failed?: string }> {
  const stage = await Stage.at(lane, scenario, start);
  const job = await jobOf(scenario.move, stage);
  const deaths: Death[] = [];
  const note = async (point: PointId) => {
    deaths.push({ point: pointText(point), left: await stage.moment(), job });
  };
  try {
    const end = await stage.runChild({ jobs: [job], stopAt: points, mutant }, note);
    const last = points.at(-1);
    if (end === "killed" && last !== undefined) await note(last);
    return { deaths };
  } catch (error) {
    return { deaths, failed: toError(error).message };
  }
}

/** The life after a death: another Director goes on, and is looked at. Undefined: all held. */
export function survive(
  lane: Lane,
  prepared: Prepared,
  { point, left, job }: Death,
  mutant?: Mutant,
): Promise<Broken | undefined> {
  return brokenBy(prepared, point, async () => {
    const stage = await Stage.at(lane, prepared.scenario, left);
    return await resumeAndJudge(prepared, stage, { job, answered: false }, mutant);
  });
}

/** The move, killed after so long unless it has ended by then. The next Director starts while the database still works. */
export function surviveKill(lane: Lane, prepared: Prepared, afterMs: number): Promise<Broken | undefined> {
  return brokenBy(prepared, `after ${afterMs} ms`, async () => {
    const stage = await Stage.at(lane, prepared.scenario, prepared.start);
    const job = await jobOf(prepared.scenario.move, stage);
    const answered = (await stage.runChild({ jobs: [job], killAfterMs: afterMs })) !== "killed";
    return await resumeAndJudge(prepared, stage, { job, answered });
  });
}

async function brokenBy(
  { scenario }: Prepared,
  point: string,
  live: () => Promise<readonly string[]>,
): Promise<Broken | undefined> {
  const what = await live().catch((error: unknown) => [toError(error).message]);
  return what.length === 0 ? undefined : { scenario: scenario.name, point, what };
}

/** The move without a crash, by a Director with a part switched off. Empty: nobody would notice. */
export async function goWrong(lane: Lane, prepared: Prepared, mutant: Mutant): Promise<readonly string[]> {
  try {
    const stage = await Stage.at(lane, prepared.scenario, prepared.start);
    const run = (jobs: readonly Job[]) => resume(stage, { jobs }, mutant);
    const what = await judge(prepared, stage, await run([await jobOf(prepared.scenario.move, stage)]));
    const { again } = prepared.scenario;
    return again === undefined || what.length > 0 ? what : await repeat(prepared, stage, again, run);
  } catch (error) {
    return [toError(error).message];
  }
}

async function resumeAndJudge(
  prepared: Prepared,
  stage: Stage,
  { job, answered }: { readonly job: Job; readonly answered: boolean },
  mutant?: Mutant,
): Promise<readonly string[]> {
  const { scenario } = prepared;
  // Killed before its task was queued, the move is asked for once more; so is a request that nobody has answered.
  const asked = answered || ("task" in job && (await stage.tasks()).length > prepared.tasksBefore);
  await stage.save(scenario.meanwhile ?? []);
  const run = (jobs: readonly Job[]) =>
    resume(stage, { jobs, cancels: scenario.goesBack !== undefined }, mutant);
  if (scenario.goesBack !== undefined) {
    const went = (await run([{ task: scenario.goesBack }])).at(-1);
    const what = await judge(prepared, stage, []);
    if (went?.state !== "done") return [`the way back ended as ${went?.state}: ${went?.result}`, ...what];
    return what.length > 0 ? what : await repeat(prepared, stage, scenario.goesBack, run);
  }
  const what = await judge(prepared, stage, await run(asked ? [] : [job]));
  if (scenario.again === undefined || what.length > 0) return what;
  return await repeat(prepared, stage, scenario.again, run);
}

/** All that must hold when the move has ended at last. */
async function judge(
  prepared: Prepared,
  stage: Stage,
  tasks: readonly EndedTask[],
): Promise<readonly string[]> {
  const { scenario, states, outcome, data } = prepared;
  const ended = tasks.flatMap(({ id, state, result }, at) =>
    state === states[at] ? [] : [`task ${id} ended as ${state}, not ${states[at]}: ${result}`],
  );
  const view = await stage.view();
  return [
    ...ended,
    ...(await inspect(prepared, stage)),
    ...lostData(prepared, stage),
    ...outcomeDifferences(scenario, outcomeOf(scenario, view, data), outcome),
    ...(scenario.expects?.(view) ?? []),
  ];
}

async function repeat(
  prepared: Prepared,
  stage: Stage,
  again: NonNullable<CrashScenario["again"]>,
  run: (jobs: readonly Job[]) => Promise<readonly EndedTask[]>,
): Promise<readonly string[]> {
  const things = () => JSON.stringify([...stage.world.vms.keys(), ...stage.world.disks.keys()]);
  const before = things();
  const last = (await run([{ task: again }])).at(-1);
  return [
    ...(last?.state === "done" ? [] : [`the same again ended as ${last?.state}: ${last?.result}`]),
    ...(await inspect(prepared, stage)),
    ...(before === things() ? [] : ["a deploy without changes made or removed something"]),
  ];
}

/** Another Director. One with a part switched off is a process of its own. */
async function resume(
  stage: Stage,
  order: { readonly jobs: readonly Job[]; readonly cancels?: boolean },
  mutant: Mutant | undefined,
): Promise<readonly EndedTask[]> {
  if (mutant === undefined) return await stage.runHere(order);
  const report = await stage.runChild({ ...order, mutant });
  if (report === "killed") throw new Error("the Director was killed where it should live");
  return report.tasks;
}

async function make(move: Move, stage: Stage, name: string): Promise<void> {
  if ("world" in move) return await move.world(await stage.view());
  if ("configs" in move) return await stage.save(move.configs);
  const last = (await stage.runHere({ jobs: [await jobOf(move, stage)] })).at(-1);
  const wanted = "task" in move ? (move.ends ?? "done") : undefined;
  if (wanted !== undefined && last?.state !== wanted)
    throw new Error(`on the way to ${name}, task ${last?.id} ended as ${last?.state}: ${last?.result}`);
}

async function jobOf(move: CrashScenario["move"], stage: Stage): Promise<Job> {
  if ("ignore" in move) return { ignore: move.ignore(await stage.view()) };
  return { task: typeof move.task === "function" ? move.task(await stage.view()) : move.task };
}

/** Content is on a disk that is in use or in the orphan list: nothing is deleted but what was to be. */
function lostData({ data }: Pick<Prepared, "data">, stage: Stage): readonly string[] {
  const now = new Set([...stage.world.disks.values()].map((disk) => disk.data));
  return [...data].filter((text) => !now.has(text)).map((text) => `data is gone: ${text}`);
}

async function inspect({ deletes }: Pick<Prepared, "deletes">, stage: Stage): Promise<readonly string[]> {
  return brokenInvariants(stage.world, (await stage.view()).remembered, deletes);
}
