import { toError } from "@slipway/kernel/errors";
import { type Broken, type Death, NOT_REACHED, type Prepared, prepare, survive } from "./drive.ts";
import { inParallel } from "./in-parallel.ts";
import { kindOf, type PointKind } from "./points.ts";
import type { CrashScenario } from "./scenario.ts";
import { seededOrder } from "./seeded.ts";
import type { Lab } from "./stage.ts";

export interface Plan {
  readonly scenarios: readonly CrashScenario[];
  readonly seed: string;
  /** How many of each scenario; undefined: all. */
  readonly points: number | undefined;
  /** Kills of each scenario at random moments. */
  readonly kills: number;
}

export interface Found {
  /** Points at which a Director was killed. */
  readonly points: number;
  readonly kills: number;
  readonly kinds: Readonly<Record<PointKind, number>>;
  readonly broken: readonly Broken[];
}

/** A point that is sometimes passed a moment later than another: it is reached at one of these tries. */
const TRIES = 4;
const LATEST_KILL_MS = 400;

export async function crashAll(lab: Lab, plan: Plan, say: (line: string) => void): Promise<Found> {
  const broken: Broken[] = [];
  const kinds: Record<PointKind, number> = { cpi: 0, agent: 0, write: 0 };
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
    const deaths = deathsOf(prepared, plan);
    await inParallel(deaths, async (death, nth) => {
      const found = await killAt(prepared, `run_${at}_${nth}`, death);
      if (found !== undefined) note(found);
      if ("dieAt" in death) kinds[kindOf(death.dieAt)] += 1;
      else kills += 1;
    });
    await prepared.stage.remove();
    const points = deaths.filter((death) => "dieAt" in death).length;
    say(`${scenario.name}: ${points} of ${prepared.points.length} points, ${deaths.length - points} kills`);
  }
  return { points: kinds.cpi + kinds.agent + kinds.write, kills, kinds, broken };
}

function deathsOf({ scenario, points }: Prepared, plan: Plan): readonly Death[] {
  const order = seededOrder(`${plan.seed} ${scenario.name}`, points.length);
  const chosen = order.slice(0, plan.points).flatMap((at) => points[at] ?? []);
  const moments = seededOrder(`${plan.seed} kills`, LATEST_KILL_MS).slice(0, plan.kills);
  return [...chosen.map((dieAt) => ({ dieAt })), ...moments.map((ms) => ({ afterMs: 150 + ms }))];
}

async function killAt(prepared: Prepared, name: string, death: Death): Promise<Broken | undefined> {
  for (let tries = 1; ; tries++) {
    const found = await survive(prepared, `${name}_${tries}`, death);
    const missed = found?.what.length === 1 && found.what[0] === NOT_REACHED;
    if (!missed || tries === TRIES) return found;
  }
}
