import { saveConfig } from "@slipway/director/store/configs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployTask, shop } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [] });
});
afterAll(() => bench.close());

/** A managed network of two subnets; the CPI chooses both ranges. */
const MANAGED = CLOUD_CONFIG.replace(
  "compilation:",
  `- name: made
  type: manual
  managed: true
  subnets:
  - {name: one, netmask_bits: 24, azs: [z1]}
  - {name: two, netmask_bits: 24, azs: [z2]}
compilation:`,
);
/** The CPI gives every subnet the same range. */
const oneRange: Interference = {
  cpi: (call, carryOut) =>
    call.method !== "create_network"
      ? undefined
      : carryOut().then((response) => ({
          ...response,
          result: JSON.parse(JSON.stringify(response.result).replaceAll("10.7.1.", "10.7.0.")),
        })),
};

it("refuses a deploy in upstream's words, before a VM is made, if the CPI gives two managed subnets one range", async () => {
  const saved = await saveConfig(bench.db, { type: "cloud", name: "managed", content: MANAGED });
  const task = deployTask(shop({ name: "web", instances: 2, azs: ["z1", "z2"], network: "made" }));
  const ended = await bench.run(
    { ...task, params: { ...task.params, cloud_config_ids: [saved.ok ? saved.config.id : 0] } },
    { seed: "one range", interference: oneRange },
  );
  expect([ended.state, ended.message]).toEqual([
    "error",
    expect.stringContaining("Network 'made' has overlapping subnets"),
  ]);
  expect(bench.world.networks.size).toBe(2);
  expect(bench.world.vms.size).toBe(0);
});
