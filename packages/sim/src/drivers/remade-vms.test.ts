import { activeDisk, activeVm } from "@slipway/engine/model/records";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, stateTask } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(async () => {
  await bench.prepare({ cpi: { remembers: true }, before: [] });
  bench.world.remakesVms = true;
});

const shop = (disk: string) => deployTask({ name: "shop", groups: [{ name: "db", instances: 1, disk }] });

let runs = 0;
const done = async (task: ReturnType<typeof deployTask>) => {
  const { state, message } = await bench.run(task, { seed: `remade ${++runs}` });
  expect({ state, message }).toMatchObject({ state: "done" });
};

/** The content of the disk that is recorded as the instance's, which must be mounted as its store. */
async function content(): Promise<unknown> {
  const instance = (await bench.remembered()).instances.find(({ group }) => group === "db");
  const { agent } = bench.world.vms.get((instance && activeVm(instance)?.cid) ?? "") ?? {};
  const cid = instance && activeDisk(instance)?.cid;
  expect({ store: agent?.store, target: agent?.target }).toEqual({ store: cid, target: null });
  expect(await bench.broken()).toEqual([]);
  return bench.world.disks.get(cid ?? "")?.data;
}

describe("a CPI that recreates a VM to attach or detach a disk, as upstream's for Docker does", () => {
  it("has the old disk mounted again before its content is copied, and the new one before jobs start", async () => {
    await done(shop("d1"));
    const before = await content();
    expect(before).toMatch(/^first mounted as/);
    await done(shop("d2"));
    expect(await content()).toBe(before);
  });

  it("keeps what is on the disk of a VM that is recreated", async () => {
    await done(shop("d1"));
    const before = await content();
    await done(stateTask("recreate"));
    expect(await content()).toBe(before);
  });

  it("starts no jobs while the disk of a VM that was recreated by hand is not mounted", async () => {
    await done(shop("d1"));
    const before = await content();
    for (const { agent } of bench.world.vms.values()) {
      agent.store = null;
      agent.hints.clear();
      agent.running = false;
    }
    await done(stateTask("restart"));
    expect(await content()).toBe(before);
  });
});
