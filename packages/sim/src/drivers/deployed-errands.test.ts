import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { instancesWithNames } from "@slipway/director/store/dns";
import { watchedInstances } from "@slipway/director/store/health";
import { listProblems } from "@slipway/director/store/problems";
import type { NewTask } from "@slipway/director/tasks/task";
import { activeVm } from "@slipway/engine/model/records";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { releaseFile } from "../crash/scenarios/release-file.ts";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { GroupSketch } from "../director/manifests.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(async () => {
  await bench.prepare({ cpi: { remembers: true }, before: [] });
  const path = join(bench.uploadsDir, "release.tgz");
  await writeFile(path, await releaseFile("web", "1", true));
  await done(taskOf("update_release", { path, fix: false, rebase: false }));
});

const done = async (task: NewTask): Promise<EndedTask> => {
  const ended = await bench.run(task, { seed: `errand ${task.type}` });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
};

const tests = (more: Partial<GroupSketch> = {}, tag = "") => ({
  ...{ name: "tests", instances: 1, errand: true },
  jobs: [{ name: "web", release: "web", properties: { tag } }],
  ...more,
});
const deploy = (...groups: readonly GroupSketch[]): NewTask =>
  deployTask({ name: "shop", releases: [{ name: "web", version: "1" }], groups });
const run = (more: object = {}) =>
  taskOf("run_errand", {
    ...{ deployment: "shop", errand: "tests", keep_alive: false, when_changed: false, instances: [] },
    ...more,
  });
const count = ({ calls }: EndedTask, kind: string) => calls.filter(({ method }) => method === kind).length;
const recorded = async () => (await bench.remembered()).instances;

describe("a deploy of an errand group", () => {
  it("records its instances without VMs, which a run then uses", async () => {
    await done(deploy(tests({ instances: 2 })));
    const before = await recorded();
    expect(before).toMatchObject([
      { index: 0, state: "started", errand: true, bootstrap: true, vms: [], ips: [] },
      { index: 1, state: "started", errand: true, bootstrap: false, vms: [], ips: [] },
    ]);
    await done(run());
    const after = await recorded();
    expect(after.map(({ uuid }) => uuid)).toEqual(before.map(({ uuid }) => uuid));
    expect(after).toMatchObject([
      { state: "started", errand: true, vms: [] },
      { state: "started", errand: true, vms: [] },
    ]);
    expect(after.map(({ ips }) => ips.length)).toEqual([1, 1]);
    expect(await bench.broken()).toEqual([]);
  });

  it("compiles its packages, so that a run compiles nothing", async () => {
    const deployed = await done(deploy(tests()));
    expect(count(deployed, "compile_package")).toBe(1);
    const ran = await done(run());
    expect([count(ran, "compile_package"), count(ran, "create_vm")]).toEqual([0, 1]);
  });

  it("fixes the versions of its variables, which a run then uses", async () => {
    const other = deployTask({ name: "other", groups: [] });
    const manifest = `${other.params.manifest as string}variables: [{name: /shared, type: password}]\n`;
    await done({ ...other, params: { ...other.params, manifest } });
    await done(deploy(tests({}, "((/shared))")));
    await done(run());
  });

  it.each([
    ["an errand group", tests({}, "((nowhere))")],
    ["a group without instances", tests({ instances: 0, errand: false }, "((nowhere))")],
  ])("fails when a variable of %s is missing", async (_, group) => {
    const ended = await bench.run(deploy(group), { seed: "missing" });
    expect(ended.state).toBe("error");
    expect(ended.message).toContain("/nowhere");
  });

  it("leaves the instances of errands as they are if it fails", async () => {
    await done(deploy(tests()));
    const [before] = await recorded();
    expect((await bench.run(deploy(tests({}, "((nowhere))")), { seed: "fails" })).state).toBe("error");
    expect(await recorded()).toEqual([before]);
  });

  it("removes instances that an errand is to have no longer", async () => {
    await done(deploy(tests({ instances: 2 })));
    await done(deploy(tests({ instances: 1 })));
    expect((await recorded()).map(({ index }) => index)).toEqual([0]);
  });

  it("gives VMs to an errand that becomes a service, and takes none from a service that becomes an errand", async () => {
    await done(deploy(tests()));
    await done(deploy(tests({ errand: false })));
    const [service] = await recorded();
    expect([service?.errand, service?.vms.length]).toEqual([undefined, 1]);
    const back = await done(deploy(tests()));
    const [errand] = await recorded();
    expect([errand?.errand, errand && activeVm(errand)?.cid]).toEqual([
      true,
      service && activeVm(service)?.cid,
    ]);
    expect([count(back, "create_vm"), count(back, "delete_vm")]).toEqual([0, 0]);
  });
});

describe("an errand that has run", () => {
  it("is not reported as missing", async () => {
    await done(deploy(tests()));
    await done(run());
    expect(await watchedInstances(bench.db)).toMatchObject([
      { state: "started", errand: true, vm: undefined },
    ]);
    expect(await instancesWithNames(bench.db)).toEqual([]);
    await done(taskOf("cck_scan", { deployment: "shop" }));
    expect(await listProblems(bench.db, "shop")).toEqual([]);
  });

  it("has no VM and is started after stop --hard of its kept VM, and runs again", async () => {
    await done(deploy(tests()));
    await done(run({ keep_alive: true }));
    const { params } = taskOf("update_deployment", {
      state: { to: "detached", group: "tests" },
      options: deployTask({ name: "shop", groups: [] }).params.options ?? {},
    });
    await done(taskOf("update_deployment", params));
    expect(await recorded()).toMatchObject([{ state: "started", vms: [] }]);
    await done(run());
  });
});
