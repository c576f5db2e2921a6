import { toError } from "@slipway/kernel/errors";
import { forget } from "./crash-lab.ts";
import { type BrokenPoint, dieAtEach, survive, surviveKill } from "./drive.ts";
import { inParallel } from "./in-parallel.ts";
import type { Lane } from "./lane.ts";
import { KINDS, kindOf, type PointId, type PointKind, pointText } from "./points.ts";
import { type PreparedScenario, prepare } from "./prepare.ts";
import type { CrashScenario } from "./scenario.ts";
import { seededOrder } from "./seeded.ts";

export interface CrashPlan {
  readonly scenarios: readonly CrashScenario[];
  readonly seed: string;
  /** Points of each scenario to die at, beside the kills. Undefined for all points. */
  readonly deaths: number | undefined;
  /** Kills of each scenario at random moments. */
  readonly kills: number;
}

export interface CrashTotals {
  /** Points at which a Director was killed, or would have left what it left at the one before. */
  readonly points: number;
  /** Number of kills for these points. */
  readonly deaths: number;
  readonly kills: number;
  readonly kinds: Readonly<Record<PointKind, number>>;
  readonly broken: readonly BrokenPoint[];
}

export async function crashAll(
  lanes: readonly Lane[],
  plan: CrashPlan,
  say: (line: string) => void,
): Promise<CrashTotals> {
  const broken: BrokenPoint[] = [];
  const kinds: Record<PointKind, number> = { cpi: 0, agent: 0, write: 0 };
  let deaths = 0;
  await inParallel(lanes, plan.scenarios, async (scenario, lane) => {
    let prepared: PreparedScenario;
    const found: BrokenPoint[] = [];
    const note = (one: BrokenPoint | undefined) => {
      if (one === undefined) return;
      found.push(one);
      broken.push(one);
      say(`BROKEN ${one.scenario}, ${one.point}:\n  ${one.what.join("\n  ")}`);
    };
    try {
      prepared = await prepare(lane, scenario, { paces: "two", say });
    } catch (error) {
      return note({ scenario: scenario.name, point: "without a crash", what: [toError(error).message] });
    }
    const moments = momentsOf(prepared, plan);
    const points = moments.flatMap(([dieAt]) => dieAt ?? []);
    const died = await dieAtEach(lane, prepared, points);
    if (died.failed !== undefined)
      note({ scenario: scenario.name, point: "held at its points", what: [died.failed] });
    for (const death of died.deaths) {
      note(await survive(lane, prepared, death));
      await forget(death.left);
    }
    const covered: Record<PointKind, number> = { cpi: 0, agent: 0, write: 0 };
    const reached = new Set(died.deaths.map(({ point }) => point));
    for (const [dieAt, ...more] of moments) {
      if (dieAt === undefined) continue;
      if (!reached.has(pointText(dieAt)))
        note({ scenario: scenario.name, point: pointText(dieAt), what: ["the point was not reached"] });
      for (const point of [dieAt, ...more]) covered[kindOf(point)] += 1;
    }
    for (const afterMs of killsOf(prepared, plan)) note(await surviveKill(lane, prepared, afterMs));
    await forget(prepared.start);
    deaths += moments.length;
    for (const kind of KINDS) kinds[kind] += covered[kind];
    const { cpi, agent, write } = covered;
    say(
      `${scenario.name}: ${cpi + agent + write} of ${prepared.points.length} points (${cpi} cpi, ${agent} agent, ${write} write), ${moments.length} deaths, ${plan.kills} kills, ${found.length} broken`,
    );
  });
  const kills = plan.kills * plan.scenarios.length;
  return { points: kinds.cpi + kinds.agent + kinds.write, deaths, kills, kinds, broken };
}

/** Chosen by the seed, in the order in which they are passed: a point, and those right after it that leave the same. */
function momentsOf({ scenario, points }: PreparedScenario, plan: CrashPlan): readonly (readonly PointId[])[] {
  const moments: PointId[][] = [];
  for (const { anew, ...point } of points)
    if (anew || moments.length === 0) moments.push([point]);
    else moments.at(-1)?.push(point);
  const order = seededOrder(`${plan.seed} ${scenario.name}`, moments.length);
  const chosen = new Set(order.slice(0, plan.deaths));
  return moments.filter((_, at) => chosen.has(at));
}

/** The seed decides after which share of the time that the move takes on this machine, the start of its process included. */
function killsOf({ scenario, tookMs }: PreparedScenario, plan: CrashPlan): readonly number[] {
  const shares = seededOrder(`${plan.seed} ${scenario.name} kills`, SHARES).slice(0, plan.kills);
  return shares.map((share) => Math.round((share / SHARES) * tookMs));
}

const SHARES = 1000;
