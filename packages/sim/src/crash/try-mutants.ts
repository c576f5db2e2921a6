import { toError } from "@slipway/kernel/errors";
import type { Mutant } from "./child-order.ts";
import { forget } from "./crash-lab.ts";
import { meetSecond } from "./double.ts";
import { type DirectorDeath, dieAtEach, goWrong, survive } from "./drive.ts";
import { inParallel } from "./in-parallel.ts";
import type { Lane } from "./lane.ts";
import { allMutants } from "./mutant.ts";
import { isSame, type PointId, pointText } from "./points.ts";
import { type PreparedScenario, prepare } from "./prepare.ts";
import type { CrashScenario } from "./scenario.ts";
import type { SecondFault } from "./second-fault.ts";

export interface Tried {
  readonly mutant: Mutant;
  /** The first crash that showed it, and how; undefined: nothing did. */
  readonly by: string | undefined;
}

export const mutantText = ({ step, part }: Mutant): string => {
  if (part === "refusal") return `${step} whose intent is closed by a refusal`;
  return part === "invalidate" ? `${step} that takes nothing back` : `${step} without its ${part}`;
};

/** Switches off one part of one step at a time, and looks whether the crash run notices. */
export async function tryMutants(
  lanes: readonly Lane[],
  given: { readonly scenarios: readonly CrashScenario[]; readonly steps: string },
  say: (line: string) => void,
): Promise<readonly Tried[]> {
  const mutants = allMutants().filter(({ step }) => step.includes(given.steps));
  const prepared: PreparedScenario[] = [];
  await inParallel(lanes, given.scenarios, async (scenario, lane) => {
    try {
      const one = await prepare(lane, scenario, { paces: "one", say });
      if (mutants.some(({ step }) => one.steps.some((begun) => begun.step === step))) prepared.push(one);
      else await forget(one.start);
    } catch (error) {
      say(`left out: ${toError(error).message}`);
    }
  });
  const tried: Tried[] = [];
  await inParallel(lanes, mutants, async (mutant, lane) => {
    const by = await notice(mutant, prepared, lane);
    tried.push({ mutant, by });
    say(`${mutantText(mutant)}: ${by === undefined ? "NOT NOTICED" : `noticed by ${by}`}`);
  });
  return tried;
}

/**
 * Tries the most promising runs first: without a crash, then near the step, in the scenarios with the fewest points.
 */
async function notice(
  mutant: Mutant,
  prepared: readonly PreparedScenario[],
  lane: Lane,
): Promise<string | undefined> {
  const through = prepared
    .filter(({ steps }) => steps.some(({ step }) => step === mutant.step))
    .sort((a, b) => a.points.length - b.points.length);
  // Without a crash no step is settled and no intent is missed.
  if (mutant.part === "record" || mutant.part === "invalidate")
    for (const one of through.filter(({ scenario }) => scenario.goesBack === undefined)) {
      const [what] = await goWrong(lane, one, mutant);
      if (what !== undefined) return `${one.scenario.name}, without a crash: ${what}`;
    }
  // What is left unrecorded of a step that the resumed task takes again shows when the task is given up.
  const back = ({ scenario }: PreparedScenario) => Number(scenario.goesBack !== undefined);
  const order =
    mutant.part === "record" || mutant.part === "invalidate"
      ? through.toSorted((a, b) => back(b) - back(a))
      : through;
  for (const one of order) {
    const by = await noticeIn(mutant, one, lane);
    if (by !== undefined) return by;
  }
  return undefined;
}

async function noticeIn(mutant: Mutant, one: PreparedScenario, lane: Lane): Promise<string | undefined> {
  const likely = nearby(one, mutant.step);
  const passed = one.points.filter((point) => likely.some((at) => isSame(point, at)));
  const { deaths, failed } = await dieAtEach(lane, one, passed, mutant);
  try {
    for (const point of likely.map(pointText)) {
      const death = deaths.find((died) => died.point === point);
      if (death === undefined) continue;
      if (mutant.part === "refusal") {
        const by = await noticeRefused(mutant, one, death, lane);
        if (by !== undefined) return `${one.scenario.name}, ${point}, then ${by}`;
        continue;
      }
      const found = await survive(lane, one, death, mutant);
      // It must be the mutant that is noticed, not what is wrong there anyway.
      if (found === undefined || (await isBrokenAnyway(one, point, lane))) continue;
      return `${one.scenario.name}, ${point}: ${found.what[0]}`;
    }
    return failed && `${one.scenario.name}, held at its points: ${failed}`;
  } finally {
    for (const { left } of deaths) await forget(left);
  }
}

/** The calls of the next life among which the step is settled: `info`, and its own after questions. */
const SETTLING_CALLS = 4;

/** A refusal is a second fault: the next life meets it at one of its first calls. */
async function noticeRefused(
  mutant: Mutant,
  one: PreparedScenario,
  death: DirectorDeath,
  lane: Lane,
): Promise<string | undefined> {
  for (let nth = 1; nth <= SETTLING_CALLS; nth++) {
    const second: SecondFault = { nth, cpi: "refused", agent: "refused" };
    const found = await meetSecond(lane, one, death, second, mutant);
    if (found.broken.length === 0) continue;
    const sound = await meetSecond(lane, one, death, second);
    if (sound.broken.length === 0) return `${found.hit}: ${found.broken[0]}`;
  }
  return undefined;
}

async function isBrokenAnyway(one: PreparedScenario, at: string, lane: Lane): Promise<boolean> {
  const point = one.points.filter((passed) => pointText(passed) === at);
  const [death] = (await dieAtEach(lane, one, point)).deaths;
  if (death === undefined) return true;
  const found = await survive(lane, one, death);
  await forget(death.left);
  return found !== undefined;
}

/** The points from the first time that a step is begun to a little after the step that follows it. */
function nearby({ steps, points }: PreparedScenario, step: string): readonly PointId[] {
  const first = steps.findIndex((begun) => begun.step === step);
  const from = steps[first]?.at ?? 0;
  const next = steps.slice(first + 1).find((begun) => begun.step !== step);
  const near = points.slice(from, (next?.at ?? points.length) + 3).filter(({ anew }) => anew);
  // Done, but not yet recorded: most of what can go wrong does so there.
  const likely = ({ name }: PointId) => /^after (cpi|agent)/.test(name);
  return [...near.filter(likely), ...near.filter((point) => !likely(point))];
}
