import { setIgnore } from "@slipway/director/store/instances";
import { readOutput } from "@slipway/director/tasks/output";
import type { NewTask } from "@slipway/director/tasks/task";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteTask, deployTask, shop, taskOf, web } from "../crash/scenarios/tasks.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [] }));

const done = async (task: NewTask): Promise<EndedTask> => {
  const ended = await bench.run(task, { seed: `stages ${task.type}` });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
};

interface Line {
  readonly stage?: string;
  readonly tags?: readonly string[];
  readonly total?: number | null;
  readonly task?: string;
  readonly index?: number;
  readonly state?: string;
}

const lines = async ({ id }: EndedTask): Promise<readonly Line[]> =>
  (await readOutput(bench.db, id, "event")).data
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

describe("the event log", () => {
  it.each([
    ["of a group that gets smaller", shop(web(1)), ["web"]],
    ["of a group that is gone", shop({ name: "other", instances: 1 }), []],
  ])("tells only the beginning and the end of the deletion %s", async (_, smaller, tags) => {
    await done(deployTask(shop(web(3))));
    const told = await lines(await done(deployTask(smaller)));
    const deletions = told.filter(({ stage }) => stage === "Deleting unneeded instances");
    const count = 3 - (tags.length > 0 ? 1 : 0);
    expect(deletions.map(({ state }) => state).sort()).toEqual([
      ...Array.from({ length: count }, () => "finished"),
      ...Array.from({ length: count }, () => "started"),
    ]);
    for (const line of deletions) expect(line).toMatchObject({ total: count, tags });
  });

  it("counts the instances of a group through all its batches", async () => {
    await done(deployTask(shop(web(3))));
    const told = await lines(await done(deployTask(shop({ ...web(3), vmType: "big" }))));
    const updates = told.filter(({ stage, state }) => stage === "Updating instance" && state === "started");
    expect(updates.map(({ index, total }) => [index, total])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it("ends a deletion of a deployment with upstream's stages", async () => {
    await done(deployTask(shop(web(1))));
    const told = await lines(await done(deleteTask()));
    const steps = told.flatMap(({ stage, task, state }) =>
      state === "finished" ? [`${stage}: ${task}`] : [],
    );
    expect(steps.slice(-3)).toEqual([
      "Removing deployment artifacts: Detaching stemcells",
      "Removing deployment artifacts: Detaching releases",
      "Deleting properties: Destroying deployment",
    ]);
  });
});

describe("an isolated action", () => {
  it("fails its task with upstream's number and words on an instance of an errand", async () => {
    await done(deployTask(shop({ name: "once", instances: 1, errand: true })));
    const [once] = (await bench.remembered()).instances;
    const params = { group: "once", instance: once?.uuid ?? "", action: "stop", hard: false };
    const task = taskOf("update_instance", {
      ...params,
      skip_drain: false,
      ignore_unresponsive_agent: false,
    });
    const ended = await bench.run(task, { seed: "isolated" });
    expect([ended.state, ended.message]).toEqual([
      "error",
      expect.stringContaining(
        "Isolated stop can not be run on instances of type errand. Try the bosh run-errand command.",
      ),
    ]);
  });
});

describe("a group of which only ignored instances remain", () => {
  it("has a bootstrap instance among them", async () => {
    await done(deployTask(shop(web(2))));
    const other = (await bench.remembered()).instances.find(({ bootstrap }) => !bootstrap);
    await setIgnore(bench.db, other?.uuid ?? "", true);
    await done(deployTask(shop(web(1))));
    expect((await bench.remembered()).instances).toMatchObject([
      { uuid: other?.uuid, ignore: true, bootstrap: true },
    ]);
  });
});
