import { saveConfig } from "@slipway/director/store/configs";
import { listNetworks } from "@slipway/director/store/networks";
import type { NewTask } from "@slipway/director/tasks/task";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, shop, taskOf } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import { cpiError } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
let inside: NewTask;
let outside: NewTask;
beforeAll(async () => {
  bench = await Bench.open();
  return () => bench.close();
});

/** A network `made` of two subnets that the CPI makes. */
const MANAGED = CLOUD_CONFIG.replace(
  "compilation:",
  `- name: made
  type: manual
  managed: true
  subnets:
  - {name: one, range: 10.8.0.0/24, gateway: 10.8.0.1, azs: [z1]}
  - {name: two, range: 10.9.0.0/24, gateway: 10.9.0.1, azs: [z2]}
compilation:`,
);
const deletion = taskOf("delete_orphan_networks", { names: ["made"] });

let runs = 0;
const seed = () => {
  runs += 1;
  return `network race ${runs}`;
};
const run = async (task: NewTask, interference: Interference = {}) => {
  const { state, message } = await bench.run(task, { seed: seed(), interference });
  return `${state} ${message}`;
};
/** Outcome of the nth deletion of a subnet. */
const atDeletion = (nth: number, answer: NonNullable<Interference["cpi"]>): Interference => {
  let deletions = 0;
  return {
    cpi: (call, carryOut) => {
      if (call.method === "delete_network") deletions += 1;
      return call.method === "delete_network" && deletions === nth ? answer(call, carryOut) : carryOut();
    },
  };
};
const lostAfter: NonNullable<Interference["cpi"]> = async (_, carryOut) => {
  await carryOut();
  throw new CpiLost("delete_network", "it ended without an answer");
};
const refuses: NonNullable<Interference["cpi"]> = () =>
  Promise.resolve(cpiError("Bosh::Clouds::CloudError", "a VM uses it"));

describe("an orphaned network that one task deletes and a deploy uses", () => {
  beforeAll(() => bench.prepare({ cpi: { remembers: true }, before: [] }));
  beforeEach(async () => {
    await bench.rewind();
    const saved = await saveConfig(bench.db, { type: "cloud", name: "managed", content: MANAGED });
    const config = saved.ok ? saved.config.id : 0;
    const deployOf = (network?: string): NewTask => {
      const group = {
        name: "web",
        instances: 2,
        azs: ["z1", "z2"],
        ...(network !== undefined && { network }),
      };
      const task = deployTask(shop(group));
      return { ...task, params: { ...task.params, cloud_config_ids: [config] } };
    };
    [inside, outside] = [deployOf("made"), deployOf()];
    for (const task of [inside, outside]) expect(await run(task)).toBe("done ");
    expect((await listNetworks(bench.db))[0]?.orphanedAt).toEqual(expect.any(Number));
  });
  const wellUsed = async () => {
    expect(await run(inside)).toBe("done ");
    expect(bench.world.networks.size).toBe(2);
    expect(await bench.broken()).toEqual([]);
  };

  it.each([1, 2])("is made again after deletion %i of a subnet had an unknown outcome", async (nth) => {
    expect(await run(deletion, atDeletion(nth, lostAfter))).toMatch(/^error /);
    await wellUsed();
  });

  it.each([1, 2])("is used again after the CPI refused deletion %i of a subnet", async (nth) => {
    expect(await run(deletion, atDeletion(nth, refuses))).toMatch(/^error .*a VM uses it/);
    await wellUsed();
  });

  it("is deleted to its end after a deletion with an unknown outcome", async () => {
    expect(await run(deletion, atDeletion(1, lostAfter))).toMatch(/^error /);
    expect(await run(deletion)).toBe("done ");
    expect([bench.world.networks.size, await listNetworks(bench.db)]).toEqual([0, []]);
  });
});
