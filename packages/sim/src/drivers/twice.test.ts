import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { Step, StepAttempt, StepOutcome, StepSubject } from "@slipway/engine/steps/step";
import { STEPS } from "@slipway/engine/steps/steps";
import { sampleOf, seed as seedOfRun } from "@slipway/testkit/sample";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { SCENARIOS, type Scenario } from "../crash/scenarios.ts";
import { differences, endState } from "../world/end-state.ts";
import { nextTask } from "./drive.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
afterEach(() => vi.restoreAllMocks());

const REMEMBERING = SCENARIOS.filter(({ cpi }) => cpi.remembers);

async function endOf(scenario: Scenario, interference?: Interference): Promise<object> {
  await bench.rewind();
  const seed = `twice ${scenario.name}`;
  const { state, message } = await bench.run(scenario.task, {
    seed,
    ...(interference !== undefined && { interference }),
  });
  expect(`${state} ${message}`).toBe("done ");
  const anew = await bench.setAside();
  expect([...(await bench.broken()), ...bench.lost(), ...(await bench.misplaced(anew))]).toEqual([]);
  const end = endState(bench.world, await bench.remembered(), bench.kept);
  const again = await bench.run(nextTask(scenario, false), { seed: `${seed} again` });
  expect([again.state, again.message, again.changing]).toEqual(["done", "", []]);
  return end;
}

describe(`every step of every flow is taken twice: as after a crash before its outcome was recorded (seed ${seedOfRun()})`, () => {
  it.each(sampleOf("twice", SCENARIOS, 1))("$name", async (scenario) => {
    await bench.prepare(scenario);
    const once = await endOf(scenario);
    const repeated = takeTwice();
    expect(differences(await endOf(scenario), once)).toEqual([]);
    expect(repeated()).toBeGreaterThan(4);
  });
});

/** Runs each step twice, as a restart does with an open intent while the first outcome is forgotten. */
function takeTwice(): () => number {
  let count = 0;
  for (const step of Object.values(STEPS) as Step<StepSubject>[]) {
    if (step.kind === "record") continue;
    const begin = step.begin.bind(step);
    vi.spyOn(step, "begin").mockImplementation((subject, context) => {
      const begun = begin(subject, context);
      return begun && { ...begun, run: (own) => twice(begun, own) };
    });
  }
  const twice = async (begun: StepAttempt, context: FlowContext): Promise<StepOutcome> => {
    const first = await begun.run(context);
    count += 1;
    if (begun.journaled === undefined) return await begun.run(context);
    const settled = await begun.settle(context);
    // A CPI that forgets cannot be asked: the first outcome is all there is.
    return settled.how === "done" ? settled.outcome : first;
  };
  return () => count;
}

describe(`every call to CPI and agents arrives twice (seed ${seedOfRun()})`, () => {
  it.each(sampleOf("calls twice", REMEMBERING, 1))("$name", async (scenario) => {
    await bench.prepare(scenario);
    const once = await endOf(scenario);
    const twice: Interference = {
      cpi: (_, carryOut) => arrivesTwice(carryOut),
      ask: (_, carryOut) => arrivesTwice(carryOut),
    };
    expect(differences(await endOf(scenario, twice), once)).toEqual([]);
  });
});

describe(`every call to the CPI is killed once, before or after its work (seed ${seedOfRun()})`, () => {
  it.each(sampleOf("calls killed", REMEMBERING, 1))("$name", async (scenario) => {
    await bench.prepare(scenario);
    const once = await endOf(scenario);
    for (const worked of [false, true]) {
      const killed = new Set<string>();
      const killing: Interference = {
        cpi: async (call, carryOut) => {
          const about = call.peer === "cpi" ? call.request.arguments.slice(0, 2) : [];
          const key = JSON.stringify([call.method, ...about]);
          if (killed.has(key)) return await carryOut();
          killed.add(key);
          if (worked) await carryOut();
          throw new CpiLost(call.method, "Invalid CPI response", { killedBy: "signal SIGKILL" });
        },
      };
      expect(differences(await endOf(scenario, killing), once)).toEqual([]);
      expect(killed.size).toBeGreaterThan(0);
    }
  });
});

/** The answer is the first one's: the second finds it done, and may say so. */
async function arrivesTwice<T>(carryOut: () => Promise<T>): Promise<T> {
  const first = await carryOut();
  await carryOut();
  return first;
}
