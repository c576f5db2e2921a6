import { brokenInvariants } from "../world/invariants.ts";
import type { BegunStep, ChildReport, EndedTask, Job, Mutant } from "./child-order.ts";
import { outcomeDifferences, outcomeOf } from "./outcome.ts";
import type { Passed, PointId } from "./points.ts";
import type { CrashScenario, Move } from "./scenario.ts";
import { type Lab, numberedTransactions, Stage } from "./stage.ts";

export interface Broken {
  readonly scenario: string;
  /** Its name and how often it was passed, or the time of the kill. */
  readonly point: string;
  readonly what: readonly string[];
}

/** A scenario brought to the moment before its move, and the points that move passes. */
export interface Prepared {
  readonly scenario: CrashScenario;
  readonly stage: Stage;
  readonly points: readonly Passed[];
  readonly steps: readonly BegunStep[];
  /** How its tasks end without a crash, in order. */
  readonly states: readonly string[];
  readonly outcome: object;
  /** What the disks in use hold: no crash may change it. */
  readonly data: ReadonlySet<string>;
  /** The disks it is to delete. */
  readonly deletes: readonly string[];
}

export type Death = { readonly dieAt: PointId } | { readonly afterMs: number };

export const pointText = (death: Death): string =>
  "dieAt" in death ? `${death.dieAt.name} (${death.dieAt.nth})` : `after ${death.afterMs} ms`;

/** Fails when the scenario is not as it should be without any crash, or takes another way at another pace. */
export async function prepare(
  lab: Lab,
  scenario: CrashScenario,
  name: string,
  paces: "one" | "two" = "two",
): Promise<Prepared> {
  const stage = await Stage.fresh(lab, scenario, name);
  for (const move of scenario.before) await make(move, stage, scenario.name);
  stage.passDays(scenario.daysLater ?? 0);
  const view = await stage.view();
  const deletes = scenario.deletes?.(view) ?? [];
  const kept = [...stage.world.disks.values()].filter(({ cid }) => !deletes.includes(cid));
  const data = new Set(kept.flatMap((disk) => disk.data ?? []));
  const { report, rehearsal } = await rehearse(lab, scenario, stage, name);
  if (paces === "two") await rehearseUneven(scenario, stage, `${name}_uneven`, report);
  const states = report.tasks.map(({ state }) => state);
  const { points, steps } = report;
  const prepared = { scenario, stage, points, steps, states, outcome: {}, data, deletes };
  const ended = "task" in scenario.move ? (scenario.move.ends ?? "done") : undefined;
  const last = report.tasks.at(-1);
  const wrong = ended === undefined || last?.state === ended ? [] : [`task ${last?.id}: ${last?.result}`];
  const broken = [...wrong, ...(await inspect(prepared, rehearsal)), ...lostData(prepared, rehearsal)];
  if (broken.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${broken.join("; ")}`);
  const end = await rehearsal.view();
  const outcome = outcomeOf(scenario, scenario.goesBack === undefined ? end : view, data);
  const unmet = scenario.expects?.(end) ?? [];
  if (unmet.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${unmet.join("; ")}`);
  await rehearsal.remove();
  return { ...prepared, outcome };
}

const REHEARSALS = 3;

/**
 * The move without a crash. The database numbers the transactions that change something: no more than those that were seen,
 * or some of them have no points. Nothing else uses the server meanwhile, but it may tidy up: then it is tried again.
 */
async function rehearse(
  lab: Lab,
  scenario: CrashScenario,
  stage: Stage,
  name: string,
): Promise<{ readonly report: ChildReport; readonly rehearsal: Stage }> {
  for (let tries = 1; ; tries++) {
    const rehearsal = await stage.copy(`${name}_rehearsal_${tries}`);
    const job = await jobOf(scenario.move, rehearsal);
    const before = await numberedTransactions(lab);
    const report = await rehearsal.runChild({ jobs: [job] });
    const numbered = (await numberedTransactions(lab)) - before;
    if (report === "killed") throw new Error(`${scenario.name}: somebody killed the Director`);
    if (numbered <= report.transactions) return { report, rehearsal };
    await rehearsal.remove();
    if (tries === REHEARSALS)
      throw new Error(
        `${scenario.name}: the database has seen ${numbered} transactions that change something, of which only ${report.transactions} have crash points`,
      );
  }
}

/** The move once more, at another pace. A point that is not passed then may never be found, or be another one. */
async function rehearseUneven(
  scenario: CrashScenario,
  stage: Stage,
  name: string,
  { points }: ChildReport,
): Promise<void> {
  const rehearsal = await stage.copy(name);
  const report = await rehearsal.runChild({ jobs: [await jobOf(scenario.move, rehearsal)], uneven: name });
  await rehearsal.remove();
  if (report === "killed") throw new Error(`${scenario.name}: somebody killed the Director`);
  const texts = (these: readonly PointId[]) => new Set(these.map((dieAt) => pointText({ dieAt })));
  const [here, there] = [texts(points), texts(report.points)];
  const only = [...here].filter((one) => !there.has(one));
  const more = [...there].filter((one) => !here.has(one));
  if (only.length + more.length > 0)
    throw new Error(
      `${scenario.name}: which points it passes depends on how fast it is: ${[...only, ...more].join("; ")}`,
    );
}

/** One life and death: killed at a point (or after a time), started again, looked at. Undefined: all held. */
export async function survive(
  prepared: Prepared,
  name: string,
  death: Death,
  mutant?: Mutant,
): Promise<Broken | undefined> {
  const { scenario } = prepared;
  const point = pointText(death);
  const stage = await prepared.stage.copy(name);
  try {
    const what = await dieAndResume(prepared, stage, death, mutant);
    return what.length === 0 ? undefined : { scenario: scenario.name, point, what };
  } catch (error) {
    return { scenario: scenario.name, point, what: [error instanceof Error ? error.message : String(error)] };
  } finally {
    await stage.remove();
  }
}

/** The move without a crash, by a Director with a part switched off. Empty: nobody would notice. */
export async function goWrong(prepared: Prepared, name: string, mutant: Mutant): Promise<readonly string[]> {
  const stage = await prepared.stage.copy(name);
  try {
    const run = (jobs: readonly Job[]) => resume(stage, { jobs }, mutant);
    const what = await judge(prepared, stage, await run([await jobOf(prepared.scenario.move, stage)]));
    const { again } = prepared.scenario;
    return again === undefined || what.length > 0 ? what : await repeat(prepared, stage, again, run);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await stage.remove();
  }
}

export const NOT_REACHED = "the point was not reached";

async function dieAndResume(
  prepared: Prepared,
  stage: Stage,
  death: Death,
  mutant: Mutant | undefined,
): Promise<readonly string[]> {
  const { scenario } = prepared;
  const tasksBefore = (await stage.tasks()).length;
  const job = await jobOf(scenario.move, stage);
  const dieAt = "dieAt" in death ? death.dieAt : undefined;
  const killAfterMs = "afterMs" in death ? death.afterMs : undefined;
  const first = await stage.runChild({ jobs: [job], dieAt, killAfterMs, mutant });
  if (first !== "killed" && dieAt !== undefined) return [NOT_REACHED];
  await stage.save(scenario.meanwhile ?? []);
  const run = (jobs: readonly Job[]) =>
    resume(stage, { jobs, cancels: scenario.goesBack !== undefined }, mutant);
  if (scenario.goesBack !== undefined) {
    const went = (await run([{ task: scenario.goesBack }])).at(-1);
    const what = await judge(prepared, stage, []);
    if (went?.state !== "done") return [`the way back ended as ${went?.state}: ${went?.result}`, ...what];
    return what.length > 0 ? what : await repeat(prepared, stage, scenario.goesBack, run);
  }
  // Killed before its task was queued, the move is asked for once more; so is a request that nobody has answered.
  const asked = first !== "killed" || ("task" in job && (await stage.tasks()).length > tasksBefore);
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
  if ("monitor" in move) return move;
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
