import { toError } from "@slipway/kernel/errors";
import { forget } from "./crash-lab.ts";
import { callsAfter, type FirstFault, loseAnswer, meetSecond } from "./double.ts";
import { type BrokenPoint, dieAtEach } from "./drive.ts";
import { inParallel } from "./in-parallel.ts";
import type { Lane } from "./lane.ts";
import { type PreparedScenario, prepare } from "./prepare.ts";
import type { CrashScenario } from "./scenario.ts";
import { type CallFault, FAULTS, type SecondFault } from "./second-fault.ts";
import { seededOrder } from "./seeded.ts";

export interface DoublePlan {
  readonly scenarios: readonly CrashScenario[];
  readonly seed: string;
  /** First faults of each scenario; undefined: every one. */
  readonly firsts: number | undefined;
  /** Second faults after each first one; undefined: each at each of the first calls. */
  readonly seconds: number | undefined;
  /** Number of calls of the second life that count as its first ones. */
  readonly calls: number;
}

export interface DoubleFound {
  readonly flows: number;
  readonly firsts: { readonly crash: number; readonly lost: number };
  readonly seconds: Readonly<Record<CallFault, number>>;
  readonly broken: readonly BrokenPoint[];
}

/** Two faults: after a crash or a lost answer, the next life meets another fault at one of its first calls. */
export async function doubleAll(
  lanes: readonly Lane[],
  plan: DoublePlan,
  say: (line: string) => void,
): Promise<DoubleFound> {
  const broken: BrokenPoint[] = [];
  const firsts = { crash: 0, lost: 0 };
  const seconds: Record<CallFault, number> = { refused: 0, lost: 0, slow: 0, crash: 0 };
  // A monitor watches until all is well: it does not come to an end with a fault.
  const scenarios = plan.scenarios.filter(({ move }) => !("monitor" in move));
  await inParallel(lanes, scenarios, async (scenario, lane) => {
    const note = (point: string, what: readonly string[]) => {
      if (what.length === 0) return;
      broken.push({ scenario: scenario.name, point, what });
      say(`BROKEN ${scenario.name}, ${point}:\n  ${what.join("\n  ")}`);
    };
    let prepared: PreparedScenario;
    try {
      prepared = await prepare(lane, scenario, { paces: "one", say });
    } catch (error) {
      return note("without a fault", [toError(error).message]);
    }
    let met = 0;
    let wrong = 0;
    for await (const first of firstFaults(lane, prepared, plan)) {
      firsts[first.point.startsWith("lost") ? "lost" : "crash"] += 1;
      for (const second of await secondFaults(lane, prepared, first, plan)) {
        const { hit, broken: what } = await meetSecond(lane, prepared, first, second);
        if (hit === undefined) continue;
        met += 1;
        seconds[hit.split(" ")[0] as CallFault] += 1;
        if (what.length > 0) wrong += 1;
        note(`${first.point}, then ${hit}`, what);
      }
      await forget(first.left);
    }
    await forget(prepared.start);
    say(`${scenario.name}: ${met} second faults, ${wrong} broken`);
  });
  return { flows: scenarios.length, firsts, seconds, broken };
}

/** Crashes at points of the move, and answers to its calls that are lost. */
async function* firstFaults(
  lane: Lane,
  prepared: PreparedScenario,
  plan: DoublePlan,
): AsyncGenerator<FirstFault> {
  const { scenario, points } = prepared;
  const crashes = points.filter(({ anew }) => anew).map(({ name, nth }) => ({ name, nth }));
  const asked = points.filter(({ name }) => /^before (cpi|agent) /.test(name)).length;
  const order = seededOrder(`${plan.seed} ${scenario.name} first`, crashes.length + asked);
  const chosen = new Set(order.slice(0, plan.firsts));
  const { deaths } = await dieAtEach(
    lane,
    prepared,
    crashes.filter((_, at) => chosen.has(at)),
  );
  yield* deaths;
  if ("ignore" in scenario.move) return;
  for (let nth = 1; nth <= asked; nth++) {
    if (!chosen.has(crashes.length + nth - 1)) continue;
    const lost = await loseAnswer(lane, prepared, nth);
    if (lost !== undefined) yield lost;
  }
}

async function secondFaults(
  lane: Lane,
  prepared: PreparedScenario,
  first: FirstFault,
  plan: DoublePlan,
): Promise<readonly SecondFault[]> {
  const seed = `${plan.seed} ${prepared.scenario.name} ${first.point}`;
  if (plan.seconds !== undefined)
    return seededOrder(seed, plan.calls * FAULTS.cpi.length)
      .slice(0, plan.seconds)
      .map((at) => ({
        nth: 1 + (at % plan.calls),
        cpi: FAULTS.cpi[Math.floor(at / plan.calls)] ?? "lost",
        agent: FAULTS.agent[Math.floor(at / plan.calls) % FAULTS.agent.length] ?? "lost",
      }));
  const calls = await callsAfter(lane, prepared, first);
  return calls.slice(0, plan.calls).flatMap((name, at) =>
    FAULTS[name.startsWith("cpi ") ? "cpi" : "agent"].map((fault: CallFault) => ({
      nth: at + 1,
      cpi: fault,
      agent: fault,
    })),
  );
}
