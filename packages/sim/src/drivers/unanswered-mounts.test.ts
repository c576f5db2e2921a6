import { activeDisk, activeVm } from "@slipway/engine/model/records";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const shop = (disk: string) => deployTask({ name: "shop", groups: [{ name: "db", instances: 1, disk }] });

/** Agents mount a disk, and their answer is lost. */
const mountsUnanswered: Interference = {
  ask: async ({ method }, carryOut) => {
    const answer = await carryOut();
    return method === "mount_disk" ? { silent: "the connection was cut" } : answer;
  },
};

const places = async () => {
  const instance = (await bench.remembered()).instances.find(({ group }) => group === "db");
  const vm = instance && activeVm(instance);
  const { store, target } = bench.world.vms.get(vm?.cid ?? "")?.agent ?? {};
  return { active: instance && activeDisk(instance)?.cid, store, target };
};

let runs = 0;
const run = (task: ReturnType<typeof deployTask>, interference: Interference = {}) =>
  bench.run(task, { seed: `unanswered mounts ${++runs}`, interference });

const inStoreOnly = async () => {
  const { active, store, target } = await places();
  expect(active).toBeDefined();
  expect({ store, target }).toEqual({ store: active, target: null });
  expect(await bench.broken()).toEqual([]);
};

beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [] }));

it("mounts the first disk as the store if one of another type was mounted without an answer", async () => {
  expect((await run(shop("d1"), mountsUnanswered)).state).toBe("error");
  expect((await places()).store).toMatch(/^disk-/);
  expect((await run(shop("d2"))).state).toBe("done");
  await inStoreOnly();
});

it("copies to the disk of a third type if one of a second was mounted without an answer", async () => {
  expect((await run(shop("d1"))).state).toBe("done");
  expect((await run(shop("d2"), mountsUnanswered)).state).toBe("error");
  expect((await places()).target).toMatch(/^disk-/);
  expect((await run(shop("d3"))).state).toBe("done");
  await inStoreOnly();
  expect(bench.lost()).toEqual([]);
});
