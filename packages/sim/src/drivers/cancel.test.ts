import { rounds, sampleOf, seed as seedOfRun } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS, type Scenario } from "../crash/scenarios.ts";
import { seededOrder } from "../crash/seeded.ts";
import { differences, endState } from "../world/end-state.ts";
import { acrossBenches, nextTask } from "./drive.ts";
import { Bench } from "./testing/bench.ts";
import { type CancelCase, runAndCancel, WAYS } from "./testing/run-and-cancel.ts";
import { nameOf } from "./watch-clients.ts";

/** `SLIPWAY_DRIVERS=all` takes every way at every call instead of one of them. */
const all = process.env.SLIPWAY_DRIVERS === "all";
const SAMPLE = 3;
const LANES = rounds({ sample: 1, all: 3 });
const seed = seedOfRun();

const benches: Bench[] = [];
beforeAll(async () => {
  benches.push(...(await Promise.all(Array.from({ length: LANES }, () => Bench.open()))));
});
afterAll(async () => {
  await Promise.all(benches.map((bench) => bench.close()));
});

describe(`a task is cancelled at any outside call of any flow (seed ${seed})`, () => {
  it.each(sampleOf("cancel", SCENARIOS, 2))("$name", { timeout: 600_000 }, async (scenario) => {
    await Promise.all(benches.map((bench) => bench.prepare(scenario)));
    const bench = benches[0] as Bench;
    await bench.rewind();
    const { calls, state } = await bench.run(scenario.task, { seed: "rehearsal" });
    expect(state).toBe("done");
    const end = endState(bench.world, await bench.remembered(), bench.kept);
    const cases = calls.flatMap((call): readonly CancelCase[] => {
      const [first = 0] = seededOrder(`${seed} ${scenario.name} ${call.nth}`, WAYS.length);
      return WAYS.filter((_, at) => all || at === first).map((way) => ({ call, way }));
    });
    const chosen = all ? cases : sampleOf(`cancel ${scenario.name}`, cases, SAMPLE);
    expect(
      await acrossBenches(benches, chosen, (one, given) => cancelled(one, scenario, given, end)),
    ).toEqual([]);
  });
});

async function cancelled(
  bench: Bench,
  scenario: Scenario,
  given: CancelCase,
  end: object,
): Promise<readonly string[]> {
  const where = `${given.way} at ${given.call.nth} (${nameOf(given.call)})`;
  await bench.rewind();
  const first = await runAndCancel(bench, scenario.task, given, `${seed} ${where} 1`);
  const broken = [...(await bench.broken()), ...bench.lost()];
  if (first.state !== "cancelled") broken.push(`the task ended as ${first.state}: ${first.message}`);
  const second = await bench.run(nextTask(scenario, false), { seed: `${seed} ${where} 2` });
  if (second.state !== "done") broken.push(`the next deploy ended as ${second.state}: ${second.message}`);
  broken.push(
    ...(await bench.broken()),
    ...bench.lost(),
    ...differences(endState(bench.world, await bench.remembered(), bench.kept), end),
  );
  return broken.map((one) => `${where}: ${one}`);
}
