import { saveConfig } from "@slipway/director/store/configs";
import { readOutput } from "@slipway/director/tasks/output";
import type { NewTask } from "@slipway/director/tasks/task";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployTask, shop, taskOf, web } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG, manifestOf } from "../director/manifests.ts";
import { Bench } from "./testing/bench.ts";

const VIPS = ["8.8.4.4", "192.0.2.7"];

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [] });
});
afterAll(() => bench.close());

const done = async (task: NewTask) => {
  const ended = await bench.run(task, { seed: `addresses ${task.type}` });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended.id;
};
/** Addresses of each instance or VM in the output of a list. */
async function listed(type: "instances" | "vms"): Promise<readonly (readonly string[])[]> {
  const id = await done(taskOf(type, { deployment: "shop" }));
  const { data } = await readOutput(bench.db, id, "result");
  const lines = data.toString().trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { readonly ips: readonly string[] }).ips);
}

it("instances and vms list a VIP where its number belongs, not behind the other addresses", async () => {
  const content = CLOUD_CONFIG.replace("networks:\n", "networks:\n- {name: floating, type: vip}\n");
  const saved = await saveConfig(bench.db, { type: "cloud", name: "default", content });
  const configs = saved.ok ? [saved.config.id] : [];
  const floating = `, {name: floating, static_ips: [${VIPS.join(", ")}]}`;
  const task = deployTask(shop(web(2)));
  const networks = "  networks: [{name: private, default: [dns, gateway]}";
  const manifest = manifestOf(shop(web(2))).replace("  networks: [{name: private}", `${networks}${floating}`);
  await done({ ...task, params: { ...task.params, manifest, cloud_config_ids: configs } });
  const expected = [
    ["8.8.4.4", expect.stringMatching(/^10\.0\.0\./)],
    [expect.stringMatching(/^10\.0\.0\./), "192.0.2.7"],
  ];
  for (const type of ["instances", "vms"] as const)
    expect(await listed(type)).toEqual(expect.arrayContaining(expected));
});
