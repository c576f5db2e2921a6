import { rounds, sampleOf, seed as seedOfRun } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS, type Scenario } from "../crash/scenarios.ts";
import { seededOrder } from "../crash/seeded.ts";
import { differences, endState } from "../world/end-state.ts";
import { acrossBenches, nextTask, otherTask } from "./drive.ts";
import { CAUSE, FAULTS, type Fault, onlyDead, strike } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import { nameOf, type OutsideCall } from "./watch-clients.ts";

/** `SLIPWAY_DRIVERS=all` takes every fault at every call instead of one of them. */
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

interface Case {
  readonly call: OutsideCall;
  readonly fault: Fault;
  /** The operator first goes back to what was before. */
  readonly detour: boolean;
}

describe(`any outside call of any flow fails (seed ${seed})`, () => {
  it.each(sampleOf("failing", SCENARIOS, 2))("$name", { timeout: 600_000 }, async (scenario) => {
    await Promise.all(benches.map((bench) => bench.prepare(scenario)));
    const rehearsed = await rehearse(benches[0] as Bench, scenario);
    const broken = await acrossBenches(
      benches,
      sampled(casesOf(rehearsed.calls, scenario), scenario),
      (bench, one) => struck(bench, scenario, one, rehearsed.end),
    );
    expect(broken).toEqual([]);
  });
});

async function rehearse(bench: Bench, scenario: Scenario) {
  await bench.rewind();
  const { state, calls } = await bench.run(scenario.task, { seed: "rehearsal" });
  expect(state).toBe("done");
  return { calls, end: endState(bench.world, await bench.remembered(), bench.kept) };
}

function casesOf(calls: readonly OutsideCall[], { name }: Scenario): readonly Case[] {
  return calls.flatMap((call) => {
    const faults = FAULTS[call.peer];
    const [first = 0] = seededOrder(`${seed} ${name} ${call.nth}`, faults.length);
    const chosen = all ? faults : faults.slice(first, first + 1);
    return chosen.flatMap((fault) => {
      const [detour] = seededOrder(`${seed} ${name} ${call.nth} ${fault}`, 2);
      const ways = all ? [true, false] : [detour === 1];
      return ways.map((one) => ({ call, fault, detour: one }));
    });
  });
}

const sampled = (cases: readonly Case[], { name }: Scenario) =>
  all ? cases : sampleOf(`failing ${name}`, cases, SAMPLE);

/** Runs a case and returns its violations, each with the case. */
async function struck(
  bench: Bench,
  scenario: Scenario,
  { call, fault, detour }: Case,
  end: object,
): Promise<readonly string[]> {
  const broken: string[] = [];
  const where = `${fault} at ${call.nth} (${nameOf(call)})${detour ? ", then back" : ""}`;
  const note = (what: string, found: readonly string[]) => {
    for (const one of found) broken.push(`${where}, ${what}: ${one}`);
  };
  await bench.rewind();
  const strikes = strike(call.nth, fault);
  const { interference } = strikes;
  const first = await bench.run(scenario.task, { interference, seed: `${seed} ${where} 1` });
  const hit = strikes.hit();
  if (hit === undefined) return [`${where}: was never reached`];
  // An agent that is asked to shut down need not answer.
  const harmless = hit.method === "shutdown" && fault !== "exception";
  if (!harmless) {
    if (first.state !== "error") note("the task", [`ended as ${first.state}`]);
    if (!first.message.includes(CAUSE)) note("the message", [`does not say the cause: ${first.message}`]);
    if (!/(web|db)\/[0-9a-f-]{36}/.test(first.message))
      note("the message", [`does not say of what: ${first.message}`]);
  }
  note("then", [...(await bench.broken()), ...bench.lost()]);

  const later = onlyDead(strikes.dead);
  const fix = strikes.dead.size > 0;
  const back = detour ? otherTask(scenario, fix) : undefined;
  if (back !== undefined) {
    const anew = await bench.setAside();
    const { state, message } = await bench.run(back, { interference: later, seed: `${seed} ${where} back` });
    if (state !== "done") note("the way back", [`ended as ${state}: ${message}`]);
    note("the way back", [...(await bench.broken()), ...bench.lost(), ...(await bench.misplaced(anew))]);
  }
  const second = await bench.run(nextTask(scenario, fix), {
    interference: later,
    seed: `${seed} ${where} 2`,
  });
  if (second.state !== "done") note("the next deploy", [`ended as ${second.state}: ${second.message}`]);
  note("after the next deploy", [...(await bench.broken()), ...bench.lost()]);
  note(
    "after the next deploy",
    differences(endState(bench.world, await bench.remembered(), bench.kept), end),
  );

  const third = await bench.run(nextTask(scenario, false), {
    interference: later,
    seed: `${seed} ${where} 3`,
  });
  if (third.state !== "done") note("a deploy without changes", [`ended as ${third.state}: ${third.message}`]);
  note("a deploy without changes", third.changing);
  return broken;
}
