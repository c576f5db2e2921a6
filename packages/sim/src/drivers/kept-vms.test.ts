import type { NewTask } from "@slipway/director/tasks/task";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, stateTask } from "../crash/scenarios/tasks.ts";
import { Bench, type BenchRunOptions } from "./testing/bench.ts";
import { DEPLOY, problemsStage } from "./testing/problems-stage.ts";
import { type Interference, nameOf } from "./watch-clients.ts";

sampleTests(1 / 4);

const KEEP = { keepUnreachableVms: true, agentEnvBosh: { ntp: ["a"] } };
const SHOP = {
  name: "shop",
  groups: [
    { name: "web", instances: 2 },
    { name: "db", instances: 1, disk: "d1" },
  ],
};

/** Agents of VMs that are made from now on say nothing. */
function newAgentsSilent({ world }: Bench): Interference {
  const known = new Set([...world.vms.values()].map(({ agentId }) => agentId));
  return {
    ask: (call, carryOut) =>
      call.peer === "agent" && !known.has(call.agentId)
        ? Promise.resolve({ silent: "it hangs" })
        : carryOut(),
  };
}

const methodsOf = (changing: readonly string[]) =>
  changing.filter((one) => /^cpi (create|delete)_vm$/.test(one));

describe("a VM that was kept since its agent never answered", () => {
  const { stage, run, scan, choose, db, whole, lose, task } = problemsStage();
  let kept: string;
  let message: string;
  let asked: readonly string[];

  const withSettings = (given: NewTask, settings: BenchRunOptions["settings"] = KEEP) =>
    stage.bench.run(given, { seed: "kept again", settings });

  beforeEach(async () => {
    const { vm } = await db();
    lose(vm.cid);
    const before = new Set(stage.bench.world.vms.keys());
    const failed = await stage.bench.run(deployTask(SHOP, { fix: true }), {
      seed: "kept",
      settings: KEEP,
      interference: newAgentsSilent(stage.bench),
    });
    expect(failed.state).toBe("error");
    message = failed.message;
    asked = failed.calls.map(nameOf);
    const made = [...stage.bench.world.vms.keys()].filter((cid) => !before.has(cid));
    expect(made).toHaveLength(1);
    kept = String(made[0]);
  });

  it("has its tags: they are set before its agent is waited for", () => {
    const at = asked.indexOf("cpi create_vm");
    const next = asked.slice(at + 1).filter((one) => one !== "cpi info");
    expect(next.slice(0, 2)).toEqual(["cpi set_vm_metadata", "agent ping"]);
  });

  it("is named in the error, with what replaces it", async () => {
    const { instances } = await stage.bench.remembered();
    const uuid = instances.find(({ group }) => group === "db")?.uuid;
    expect(message).toContain(`Timed out pinging VM '${kept}'`);
    expect(message).toContain("The VM is kept (director.keep_unreachable_vms)");
    for (const command of ["deploy --recreate", `recreate db/${uuid}`, "cck"])
      expect(message).toContain(`\`bosh -d shop ${command}\``);
    expect(message).toContain("`--fix`");
  });

  it.each([
    ["deploy --recreate", () => deployTask(SHOP, { recreate: true })],
    ["deploy --fix", () => deployTask(SHOP, { fix: true })],
    ["recreate", () => stateTask("recreate")],
    [
      "cck",
      async () => {
        expect(await scan()).toEqual(["missing_vm db/0"]);
        return await choose("recreate_vm");
      },
    ],
  ])("is replaced by %s", async (_, command) => {
    const { state, message: said, changing } = await withSettings(await command());
    expect(`${state} ${said}`).toBe("done ");
    expect(stage.bench.world.vms.has(kept)).toBe(false);
    expect(changing).toContain("cpi delete_vm");
    expect(await whole()).toEqual([]);
  });

  it("is waited for by a deploy, which goes on with it once it answers", async () => {
    const { state, changing } = await withSettings(DEPLOY);
    expect({ state, vms: methodsOf(changing) }).toEqual({ state: "done", vms: [] });
    expect((await db()).vm.cid).toBe(kept);
    expect(await whole()).toEqual([]);
  });

  it("is replaced by a deploy with another agent.env; a VM whose agent was ready is not", async () => {
    const other = { ...KEEP, agentEnvBosh: { ntp: ["b"] } };
    const { state, changing } = await withSettings(DEPLOY, other);
    expect({ state, vms: methodsOf(changing) }).toEqual({
      state: "done",
      vms: ["cpi delete_vm", "cpi create_vm"],
    });
    expect(await whole()).toEqual([]);
    expect(methodsOf((await withSettings(DEPLOY, KEEP)).changing)).toEqual([]);
  });

  it("is waited for, and not replaced, by a health monitor", async () => {
    const { instances } = await stage.bench.remembered();
    const named = instances.filter(({ group }) => group === "db").map(({ uuid }) => uuid);
    const { state } = await withSettings(task("cck_scan_and_fix", { instances: named }));
    expect(state).toBe("done");
    expect((await db()).vm.cid).toBe(kept);
  });

  it("is deleted without keep_unreachable_vms, so that nothing is waited for", async () => {
    const failed = await run(deployTask(SHOP, { fix: true }), newAgentsSilent(stage.bench));
    expect(stage.bench.world.vms.has(kept)).toBe(false);
    expect(failed.message).toContain("The VM is deleted; with director.keep_unreachable_vms");
    expect(failed.message).toMatch(
      /the cloud has the VM, its agent should listen at .*, its certificate lasts until/,
    );
    expect(await stage.bench.broken()).toEqual([]);
  });
});

describe("a VM of a first deploy that was kept since its agent never answered", () => {
  let bench: Bench;
  const first = { name: "shop", groups: [{ name: "web", instances: 1 }] };
  beforeAll(async () => {
    bench = await Bench.open();
    await bench.prepare({ cpi: { remembers: true }, before: [] });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.rewind());

  it.each([
    ["--recreate", { recreate: true }],
    ["--fix", { fix: true }],
  ])("is replaced by a deploy with %s, which the error names", async (_, options) => {
    const failed = await bench.run(deployTask(first), {
      seed: "first",
      settings: KEEP,
      interference: newAgentsSilent(bench),
    });
    expect(failed.message).toContain("`bosh -d shop deploy --recreate` or `--fix` replaces it");
    // There is no manifest yet that these could go by.
    expect(failed.message).not.toMatch(/cck|shop recreate/);
    const [kept] = [...bench.world.vms.keys()];
    const { state, message } = await bench.run(deployTask(first, options), { seed: "again", settings: KEEP });
    expect(`${state} ${message}`).toBe("done ");
    expect([...bench.world.vms.keys()]).not.toContain(kept);
    expect(await bench.broken()).toEqual([]);
  });
});

describe("a new VM whose metadata the CPI does not set", () => {
  let bench: Bench;
  const first = { name: "shop", groups: [{ name: "web", instances: 1 }] };
  beforeAll(async () => {
    bench = await Bench.open();
    await bench.prepare({ cpi: { remembers: true }, before: [] });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.rewind());

  const refusing: Interference = {
    cpi: ({ method }, carryOut) =>
      method === "set_vm_metadata"
        ? Promise.resolve({
            result: null,
            error: { type: "Bosh::Clouds::CloudError", message: "no more tags", ok_to_retry: false },
            log: "",
          })
        : carryOut(),
  };
  const deploy = (settings: BenchRunOptions["settings"], interference?: Interference) =>
    bench.run(deployTask(first), { seed: "tags", settings, ...(interference && { interference }) });

  it("is deleted with the CPI's words in the error, and the next deploy makes another", async () => {
    const failed = await deploy({}, refusing);
    expect(failed.message).toMatch(/set_vm_metadata.*no more tags/);
    expect([...bench.world.vms.keys()]).toEqual([]);
    expect(await bench.broken()).toEqual([]);
    expect((await deploy({})).state).toBe("done");
    expect(bench.world.vms.size).toBe(1);
    expect(await bench.broken()).toEqual([]);
  });

  it("stays with keep_unreachable_vms, and the next deploy goes on with it", async () => {
    await deploy(KEEP, refusing);
    const [kept] = [...bench.world.vms.keys()];
    expect((await deploy(KEEP)).state).toBe("done");
    expect([...bench.world.vms.keys()]).toEqual([kept]);
    expect(await bench.broken()).toEqual([]);
  });
});
