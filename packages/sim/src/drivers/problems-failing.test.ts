import { sampleOf, seed as seedOfRun } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import { seededOrder } from "../crash/seeded.ts";
import { FAULTS, strike } from "./faults.ts";
import { problemsStage } from "./testing/problems-stage.ts";
import { nameOf } from "./watch-clients.ts";

/** `SLIPWAY_DRIVERS=all` takes every fault at every call instead of one of them. */
const all = process.env.SLIPWAY_DRIVERS === "all";
const SAMPLE = 4;
const seed = seedOfRun();
const { stage, run, scan, choose, db, whole, lose } = problemsStage();

describe(`whatever call fails while problems are resolved, the same task completes the work (seed ${seed})`, () => {
  const lost = async () => lose((await db()).vm.cid);
  const unmounted = async () => {
    const real = stage.bench.world.vms.get((await db()).vm.cid);
    if (real) real.agent.store = null;
  };
  it.each([
    ["recreate_vm", lost],
    ["reattach_disk", unmounted],
    ["reattach_disk_and_reboot", unmounted],
  ] as const)("%s", async (name, harm) => {
    const prepare = async () => {
      await stage.bench.rewind();
      await harm();
      await scan();
      return await choose(name);
    };
    const { calls } = await run(await prepare());
    const broken: string[] = [];
    for (const call of all ? calls : sampleOf(`problems ${name}`, calls, SAMPLE)) {
      const faults = FAULTS[call.peer];
      const [first = 0] = seededOrder(`${seed} ${name} ${call.nth}`, faults.length);
      for (const fault of all ? faults : faults.slice(first, first + 1)) {
        const chosen = await prepare();
        const strikes = strike(call.nth, fault);
        const first = await run(chosen, strikes.interference);
        const where = `${fault} at ${call.nth} (${nameOf(call)})`;
        if (stage.bench.lost().length > 0) broken.push(`${where}: ${stage.bench.lost().join()}`);
        if (first.state === "done") continue;
        const second = await run(chosen);
        if (second.state !== "done") broken.push(`${where}: then ${second.state}: ${second.message}`);
        broken.push(...(await whole()).map((what) => `${where}: ${what}`));
      }
    }
    expect(broken).toEqual([]);
  });
});
