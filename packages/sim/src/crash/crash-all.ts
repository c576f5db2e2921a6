import { toError } from "@slipway/kernel/errors";
import { type Broken, type Death, type Prepared, prepare, survive } from "./drive.ts";
import { inParallel } from "./in-parallel.ts";
import { KINDS, kindOf, type PointId, type PointKind } from "./points.ts";
import type { CrashScenario } from "./scenario.ts";
import { seededOrder } from "./seeded.ts";
import type { Lab } from "./stage.ts";

export interface Plan {
  readonly scenarios: readonly CrashScenario[];
  readonly seed: string;
  /** How many of each scenario, beside the kills; undefined: at all points. */
  readonly deaths: number | undefined;
  /** Kills of each scenario at random moments. */
  readonly kills: number;
}

export interface Found {
  /** Points at which a Director was killed, or would have left what it left at the one before. */
  readonly points: number;
  /** How often it was killed for them. */
  readonly deaths: number;
  readonly kills: number;
  readonly kinds: Readonly<Record<PointKind, number>>;
  readonly broken: readonly Broken[];
}

const LATEST_KILL_MS = 400;

export async function crashAll(lab: Lab, plan: Plan, say: (line: string) => void): Promise<Found> {
  const broken: Broken[] = [];
  const kinds: Record<PointKind, number> = { cpi: 0, agent: 0, write: 0 };
  let deaths = 0;
  let kills = 0;
  const note = (found: Broken) => {
    broken.push(found);
    say(`BROKEN ${found.scenario}, ${found.point}:\n  ${found.what.join("\n  ")}`);
  };
  for (const [at, scenario] of plan.scenarios.entries()) {
    let prepared: Prepared;
    try {
      prepared = await prepare(lab, scenario, `scenario_${at}`);
    } catch (error) {
      note({ scenario: scenario.name, point: "without a crash", what: [toError(error).message] });
      continue;
    }
    const covered: Record<PointKind, number> = { cpi: 0, agent: 0, write: 0 };
    const brokenBefore = broken.length;
    const chosen = deathsOf(prepared, plan);
    await inParallel(chosen, async ({ death, covers }, nth) => {
      const found = await survive(prepared, `run_${at}_${nth}`, death);
      if (found !== undefined) note(found);
      for (const point of covers) covered[kindOf(point)] += 1;
    });
    await prepared.stage.remove();
    const ofPoints = chosen.filter(({ death }) => "dieAt" in death).length;
    deaths += ofPoints;
    kills += chosen.length - ofPoints;
    for (const kind of KINDS) kinds[kind] += covered[kind];
    const { cpi, agent, write } = covered;
    say(
      `${scenario.name}: ${cpi + agent + write} of ${prepared.points.length} points (${cpi} cpi, ${agent} agent, ${write} write), ${ofPoints} deaths, ${chosen.length - ofPoints} kills, ${broken.length - brokenBefore} broken`,
    );
  }
  return { points: kinds.cpi + kinds.agent + kinds.write, deaths, kills, kinds, broken };
}

interface Chosen {
  readonly death: Death;
  /** The point, and those right after it: nothing happens between them. */
  readonly covers: readonly PointId[];
}

function deathsOf({ scenario, points }: Prepared, plan: Plan): readonly Chosen[] {
  const moments: PointId[][] = [];
  for (const { anew, ...point } of points)
    if (anew || moments.length === 0) moments.push([point]);
    else moments.at(-1)?.push(point);
  const order = seededOrder(`${plan.seed} ${scenario.name}`, moments.length);
  const chosen = order.slice(0, plan.deaths).flatMap((at): Chosen[] => {
    const [dieAt, ...more] = moments[at] ?? [];
    return dieAt === undefined ? [] : [{ death: { dieAt }, covers: [dieAt, ...more] }];
  });
  const kills = seededOrder(`${plan.seed} kills`, LATEST_KILL_MS).slice(0, plan.kills);
  return [...chosen, ...kills.map((ms) => ({ death: { afterMs: 150 + ms }, covers: [] }))];
}
