import { toError } from "@slipway/kernel/errors";
import type { EndedTask, Job, Mutant } from "./child-order.ts";
import { CrashLab, type CrashSnapshot } from "./crash-lab.ts";
import type { Lane } from "./lane.ts";
import { outcomeDifferences, outcomeOf } from "./outcome.ts";
import { type PointId, pointText } from "./points.ts";
import { inspect, jobOf, lostData, type PreparedScenario } from "./prepare.ts";
import type { CrashScenario } from "./scenario.ts";

export interface BrokenPoint {
  readonly scenario: string;
  /** Its name and how often it was passed, or the time of the kill. */
  readonly point: string;
  readonly what: readonly string[];
}

/** State that a killed Director leaves, and its unfinished job. */
export interface DirectorDeath {
  /** Point or time of the kill. */
  readonly point: string;
  readonly left: CrashSnapshot;
  readonly job: Job;
}

/**
 * The move, held at each of these points in turn: a process that stands still leaves what one leaves that is killed there.
 * At the last it really is. Points that it does not come to are missing. `failed`: it ended in some other way.
 */
export async function dieAtEach(
  lane: Lane,
  { scenario, start }: PreparedScenario,
  points: readonly PointId[],
  mutant?: Mutant,
): Promise<{ readonly deaths: readonly DirectorDeath[]; readonly failed?: string }> {
  const stage = await CrashLab.at(lane, scenario, start);
  const job = await jobOf(scenario.move, stage);
  const deaths: DirectorDeath[] = [];
  const note = async (point: PointId) => {
    deaths.push({ point: pointText(point), left: await stage.moment(), job });
  };
  try {
    const end = await stage.runChild({ jobs: [job], stopAt: points, mutant }, note);
    const last = points.find((point) => deaths.every((death) => death.point !== pointText(point)));
    if (end === "killed" && last !== undefined) await note(last);
    return { deaths };
  } catch (error) {
    return { deaths, failed: toError(error).message };
  }
}

/** The life after a death: another Director goes on, and is looked at. Undefined: all held. */
export function survive(
  lane: Lane,
  prepared: PreparedScenario,
  { point, left, job }: DirectorDeath,
  mutant?: Mutant,
): Promise<BrokenPoint | undefined> {
  return brokenBy(prepared, point, async () => {
    const stage = await CrashLab.at(lane, prepared.scenario, left);
    return await resumeAndJudge(prepared, stage, { job, answered: false }, mutant);
  });
}

/** The move, killed after so long unless it has ended by then. The next Director starts while the database still works. */
export function surviveKill(
  lane: Lane,
  prepared: PreparedScenario,
  afterMs: number,
): Promise<BrokenPoint | undefined> {
  return brokenBy(prepared, `after ${afterMs} ms`, async () => {
    const stage = await CrashLab.at(lane, prepared.scenario, prepared.start);
    const job = await jobOf(prepared.scenario.move, stage);
    const answered = (await stage.runChild({ jobs: [job], killAfterMs: afterMs })) !== "killed";
    return await resumeAndJudge(prepared, stage, { job, answered });
  });
}

async function brokenBy(
  { scenario }: PreparedScenario,
  point: string,
  live: () => Promise<readonly string[]>,
): Promise<BrokenPoint | undefined> {
  const what = await live().catch((error: unknown) => [toError(error).message]);
  return what.length === 0 ? undefined : { scenario: scenario.name, point, what };
}

/** Runs the move without a crash, by a Director with a part switched off. Empty if the mutant stays unnoticed. */
export async function goWrong(
  lane: Lane,
  prepared: PreparedScenario,
  mutant: Mutant,
): Promise<readonly string[]> {
  try {
    const stage = await CrashLab.at(lane, prepared.scenario, prepared.start);
    const run = (jobs: readonly Job[]) => resume(stage, { jobs }, mutant);
    const what = await judge(prepared, stage, await run([await jobOf(prepared.scenario.move, stage)]));
    const { again } = prepared.scenario;
    return again === undefined || what.length > 0 ? what : await repeat(prepared, stage, again, run);
  } catch (error) {
    return [toError(error).message];
  }
}

async function resumeAndJudge(
  prepared: PreparedScenario,
  stage: CrashLab,
  { job, answered }: { readonly job: Job; readonly answered: boolean },
  mutant?: Mutant,
): Promise<readonly string[]> {
  const { scenario } = prepared;
  // Killed before its task was queued, the move is requested once more; so is a request without an answer.
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
  prepared: PreparedScenario,
  stage: CrashLab,
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
  prepared: PreparedScenario,
  stage: CrashLab,
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

/** Runs another Director. One with a part switched off is a separate process. */
async function resume(
  stage: CrashLab,
  order: { readonly jobs: readonly Job[]; readonly cancels?: boolean },
  mutant: Mutant | undefined,
): Promise<readonly EndedTask[]> {
  if (mutant === undefined) return await stage.runHere(order);
  const report = await stage.runChild({ ...order, mutant });
  if (report === "killed") throw new Error("the Director was killed where it should live");
  return report.tasks;
}
