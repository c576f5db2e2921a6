import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOutput } from "@slipway/director/tasks/output";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { releaseFile } from "../crash/scenarios/release-file.ts";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";

sampleTests(1 / 4);

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
  await deployed();
});

const done = async (task: Parameters<Bench["run"]>[0]): Promise<EndedTask> => {
  const ended = await bench.run(task, { seed: `errand ${task.type}` });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
};

const deployed = (tag = "") => {
  const jobs = [{ name: "web", release: "web", ...(tag && { properties: { tag } }) }];
  return done(
    deployTask({
      name: "shop",
      releases: [{ name: "web", version: "1" }],
      groups: [
        { name: "app", instances: 2, jobs },
        { name: "tests", instances: 1, jobs, errand: true },
        { name: "plain", instances: 1 },
      ],
    }),
  );
};

const errand = (name: string, more: object = {}) =>
  taskOf("run_errand", {
    ...{ deployment: "shop", errand: name, keep_alive: false, when_changed: false, instances: [] },
    ...more,
  });

const lines = async ({ id }: EndedTask) =>
  (await readOutput(bench.db, id, "result")).data
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly instance: { readonly group: string } });
const groups = async (ended: EndedTask) => (await lines(ended)).map(({ instance }) => instance.group).sort();
const count = ({ calls }: EndedTask, kind: string) => calls.filter(({ method }) => method === kind).length;

describe("an errand", () => {
  it("runs where its job is, and in a VM that is made for it where its group is an errand; both at once", async () => {
    const ended = await done(errand("web"));
    expect(await groups(ended)).toEqual(["app", "app", "tests"]);
    expect((await lines(ended))[0]).toMatchObject({
      errand_name: "web",
      exit_code: 0,
      stdout: "web ran\n",
      stderr: "",
      logs: { blobstore_id: expect.stringMatching(/^logs-/) },
    });
    expect(ended.result).toBe("3 succeeded, 0 errored, 0 canceled");
    expect([count(ended, "create_vm"), count(ended, "delete_vm")]).toEqual([1, 1]);
    expect(bench.world.vms.size).toBe(3);
    expect(await bench.broken()).toEqual([]);
  });

  it("is refused where its job was stopped, unless the Director lets it run there, and runs on others", async () => {
    const of = async (index: number) =>
      (await bench.remembered()).instances.find((one) => one.group === "app" && one.index === index)?.uuid ??
      "";
    const [stopped, other] = [await of(0), await of(1)];
    const stop = { group: "app", instance: stopped, action: "stop", hard: false };
    await done(taskOf("update_instance", { ...stop, skip_drain: false, ignore_unresponsive_agent: false }));
    const onApp = (id?: string) => errand("web", { instances: [{ group: "app", ...(id && { id }) }] });
    const refused = await bench.run(onApp(), { seed: "refused" });
    expect([refused.state, refused.message]).toEqual([
      "error",
      expect.stringContaining(
        `Instance(s) 'app/${stopped}' is stopped, unable to run errand. Maybe start vm?`,
      ),
    ]);
    expect(refused.calls.filter(({ method }) => method === "run_errand")).toEqual([]);
    expect(await groups(await done(onApp(other)))).toEqual(["app"]);
    const allowed = await bench.run(onApp(), {
      seed: "allowed",
      operations: { allowErrandsOnStoppedInstances: true },
    });
    expect([allowed.state, await groups(allowed)]).toEqual(["done", ["app", "app"]]);
  });

  it("runs the first job of a group by its name, and asks nothing of the other groups", async () => {
    const ended = await done(errand("tests"));
    expect(await groups(ended)).toEqual(["tests"]);
    const told = ended.calls.filter(({ method }) =>
      ["apply", "start", "stop", "run_errand"].includes(method),
    );
    expect(new Set(told.map((call) => (call.peer === "agent" ? call.agentId : ""))).size).toBe(1);
    const again = await done(errand("tests"));
    expect(await lines(again)).toMatchObject([{ instance: (await lines(ended))[0]?.instance }]);
  });

  it.each([
    [[{ group: "app" }], ["app", "app"]],
    [[{ group: "app", id: "1" }], ["app"]],
    [
      [{ group: "app", id: "first" }, { group: "tests" }],
      ["app", "tests"],
    ],
    [[{ group: "tests", id: "first" }], ["tests"]],
  ])("runs on %j alone", async (instances, ran) => {
    expect(await groups(await done(errand("web", { instances })))).toEqual(ran);
  });

  it("keeps its VM if the operator asks for that; a deploy leaves it, and another run uses it", async () => {
    await done(errand("tests", { keep_alive: true }));
    expect(bench.world.vms.size).toBe(4);
    await deployed();
    expect(bench.world.vms.size).toBe(4);
    const ended = await done(errand("tests"));
    expect([count(ended, "create_vm"), count(ended, "delete_vm")]).toEqual([0, 1]);
    expect(bench.world.vms.size).toBe(3);
  });

  it("runs once with --when-changed, and again after a change", async () => {
    const when = { when_changed: true };
    expect(await lines(await done(errand("tests", when)))).toHaveLength(1);
    const skipped = await done(errand("tests", when));
    expect(await lines(skipped)).toEqual([]);
    expect(skipped.result).toBe("0 succeeded, 0 errored, 0 canceled");
    expect(count(skipped, "create_vm")).toBe(0);
    expect(await lines(await done(errand("tests")))).toHaveLength(1);
    await deployed("other");
    expect(await lines(await done(errand("tests", when)))).toHaveLength(1);
  });

  it.each([
    ["nobody", {}, "Errand 'nobody' doesn't exist"],
    ["plain", {}, "Instance group 'plain' is not an errand"],
    ["tests", { instances: [{ group: "app" }] }, "Filtering by instances is not supported"],
    ["web", { instances: [{ group: "app", id: "9" }] }, "No instances match selection criteria: [app/9]"],
  ])("%s %j is refused", async (name, more, words) => {
    const ended = await bench.run(errand(name, more), { seed: "refused" });
    expect(ended.state).toBe("error");
    expect(ended.message).toContain(words);
    expect(ended.changing).toEqual([]);
  });

  it("fails its task if an agent refuses it, and its VM is deleted all the same", async () => {
    const ended = await bench.run(errand("tests"), {
      seed: "refuses",
      interference: {
        ask: ({ method }) =>
          method === "run_errand" ? Promise.resolve({ exception: "no room" }) : undefined,
      },
    });
    expect(ended.state).toBe("error");
    expect(bench.world.vms.size).toBe(3);
  });

  it("leaves no VM behind if it is canceled", async () => {
    let cancel = () => Promise.resolve(false);
    const ended = await bench.run(errand("tests"), {
      seed: "cancelled",
      onQueued: (id, director) => {
        cancel = () => director.cancel(id);
      },
      interference: {
        ask: ({ method }, carryOut) =>
          method === "run_errand" ? cancel().then(() => carryOut()) : undefined,
      },
    });
    expect(ended.state).toBe("cancelled");
    expect(bench.world.vms.size).toBe(3);
    expect(await bench.broken()).toEqual([]);
  });
});
