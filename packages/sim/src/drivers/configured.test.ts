import { saveConfig } from "@slipway/director/store/configs";
import { readOutput } from "@slipway/director/tasks/output";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { SSH } from "../crash/scenarios/access.ts";
import { deployTask, small } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import { Bench, type BenchRunOptions } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] });
});
afterAll(() => bench.close());
beforeEach(() => bench.rewind());

/** Sets up ssh for the only instance of a group and returns the answer for the CLI. */
async function answered(operations: BenchRunOptions["operations"]): Promise<Record<string, unknown>> {
  const [scenario] = SSH;
  if (scenario === undefined || !("task" in scenario.move) || typeof scenario.move.task === "function")
    throw new Error("bug: the scenario is another");
  const { id, state } = await bench.run(scenario.move.task, { seed: "ssh", operations });
  expect(state).toBe("done");
  const [answer] = JSON.parse((await readOutput(bench.db, id, "result")).data.toString());
  return answer;
}

it("an answer to ssh has the configured gateway, and no gateway otherwise", async () => {
  const told = await answered({ sshGateway: { host: "jump.example", user: "vcap" } });
  expect(told).toMatchObject({ status: "success", gateway_host: "jump.example", gateway_user: "vcap" });
  const plain = await answered(undefined);
  expect(plain).toMatchObject({ status: "success", job: "db" });
  expect(Object.keys(plain).filter((key) => key.startsWith("gateway"))).toEqual([]);
});

it("networks need a gateway, unless the Director is to ignore that: VMs then have none", async () => {
  const content = CLOUD_CONFIG.replaceAll(/gateway: [0-9.]+, /g, "");
  expect(content).not.toContain("gateway");
  const saved = await saveConfig(bench.db, { type: "cloud", name: "islands", content });
  const id = saved.ok ? saved.config.id : 0;
  const task = deployTask(small, { recreate: true });
  const deploy = { ...task, params: { ...task.params, cloud_config_ids: [Number(id)] } };
  const refused = await bench.run(deploy, { seed: "refused" });
  expect([refused.state, refused.message]).toEqual(["error", expect.stringContaining("'gateway'")]);
  const done = await bench.run(deploy, { seed: "done", operations: { ignoreMissingGateway: true } });
  expect(`${done.state} ${done.message}`).toBe("done ");
  const networks = [...bench.world.vms.values()].flatMap((vm) => Object.values(vm.networks));
  expect(networks.map((network) => Object.keys(network).includes("gateway"))).toEqual([false, false]);
  expect(await bench.broken()).toEqual([]);
});

it("VMs get random passwords if the Director is to generate them and the manifest has no password", async () => {
  const recreate = deployTask(small, { recreate: true });
  const passwords = async (settings: BenchRunOptions["settings"]) => {
    const { state, calls } = await bench.run(recreate, { seed: "passwords", settings });
    expect(state).toBe("done");
    return calls.flatMap((call) => {
      if (call.peer !== "cpi" || call.method !== "create_vm") return [];
      const { bosh } = call.request.arguments[5] as { readonly bosh: { readonly password?: string } };
      return [bosh.password];
    });
  };
  expect(await passwords({})).toEqual([undefined, undefined]);
  const hash = expect.stringMatching(/^\$6\$[\w./]{16}\$[\w./]{86}$/);
  const [one, two] = await passwords({ generateVmPasswords: true });
  expect([one, two]).toEqual([hash, hash]);
  expect(one).not.toBe(two);
  const given = { generateVmPasswords: true, agentEnvBosh: { password: "$6$given" } };
  expect(await passwords(given)).toEqual(["$6$given", "$6$given"]);
});
