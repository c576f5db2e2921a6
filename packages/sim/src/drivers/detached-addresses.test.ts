import type { NewTask } from "@slipway/director/tasks/task";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { deployTask, shop, stateTask, web } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [deployTask(shop(web(1)))] }));

const done = async (task: NewTask): Promise<void> => {
  const ended = await bench.run(task, { seed: `detached ${task.type}` });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
};
const ofShop = async () => (await bench.remembered()).instances.find(({ group }) => group === "web");

it("an instance stopped with --hard keeps its address through deploys of its own and of others", async () => {
  const before = (await ofShop())?.ips;
  expect(before).toHaveLength(1);
  await done(stateTask("detached"));
  expect(await ofShop()).toMatchObject({ state: "detached", vms: [], ips: before });
  await done(deployTask({ name: "other", groups: [{ name: "other", instances: 2 }] }));
  await done(deployTask(shop(web(1))));
  const refused = deployTask(shop({ ...web(1), jobs: [{ name: "none", release: "none" }] }));
  expect((await bench.run(refused, { seed: "refused" })).state).toBe("error");
  expect(await ofShop()).toMatchObject({ state: "detached", vms: [], ips: before });
  await done(stateTask("started"));
  expect(await ofShop()).toMatchObject({ state: "started", ips: before });
});
