import { setImmediate } from "node:timers/promises";
import { activeDisk, activeVm } from "@slipway/engine/model/records";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { db, dbWith, deployTask, shop, small, stateTask, taskOf, web } from "../crash/scenarios/tasks.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open({ snapshots: true });
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] }));

let runs = 0;
const done = async (
  task: Parameters<Bench["run"]>[0],
  interference: Interference = {},
): Promise<EndedTask> => {
  runs += 1;
  // The CPI remembers requests by their ids.
  const ended = await bench.run(task, { seed: `snapshots ${runs}`, interference });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  expect(await bench.broken()).toEqual([]);
  return ended;
};
const take = (interference?: Interference) =>
  done(taskOf("snapshot_deployment", { deployment: "shop" }), interference);
const refusing = (type: string): Interference => ({
  cpi: ({ method }) =>
    method === "snapshot_disk"
      ? Promise.resolve({ result: null, error: { type, message: "no", ok_to_retry: false }, log: "" })
      : undefined,
});
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
};
const known = async () => (await bench.remembered()).snapshots;
const ofDb = async () => {
  const instance = (await bench.remembered()).instances.find(({ group }) => group === "db");
  if (instance === undefined) throw new Error("there is no db");
  return { instance, agentId: activeVm(instance)?.agentId, disk: activeDisk(instance)?.cid };
};

describe("snapshots", () => {
  it("are taken of the disks there are, with what their disk is known by", async () => {
    const ended = await take();
    expect(ended.result).toBe("snapshots of deployment 'shop' created");
    const call = ended.calls.find(({ method }) => method === "snapshot_disk");
    const { instance, disk, agentId } = await ofDb();
    expect(call).toMatchObject({
      request: {
        arguments: [
          disk,
          { deployment: "shop", job: "db", index: 0, agent_id: agentId, instance_id: instance.uuid },
        ],
      },
    });
    expect(await known()).toEqual([...bench.world.snapshots.keys()]);
    expect(await known()).toHaveLength(1);
  });

  it("count as failures if the cloud refuses them, and not if it does not implement them", async () => {
    const refused = await take(refusing("Bosh::Clouds::CloudError"));
    expect(refused.result).toBe("snapshots of deployment 'shop' created, with 1 failure(s)");
    const unable = await take(refusing("Bosh::Clouds::NotImplemented"));
    expect(unable.result).toBe("snapshots of deployment 'shop' created");
    expect(await known()).toEqual([]);
  });

  it("are taken of each disk after its jobs have stopped and before anything else, when an instance is updated", async () => {
    const before = await ofDb();
    const ended = await done(deployTask(shop({ name: "db", instances: 1, disk: "d1", vmType: "big" })));
    const order = ended.calls.map(({ method }) => method);
    const at = order.indexOf("snapshot_disk");
    expect(order.lastIndexOf("snapshot_disk")).toBe(at);
    expect(order.indexOf("stop")).toBeLessThan(at);
    expect(order.indexOf("detach_disk")).toBeGreaterThan(at);
    expect(ended.calls[at]).toMatchObject({ request: { arguments: [before.disk, expect.anything()] } });
    const rows = await bench.db.selectFrom("snapshots").select(["clean", "task_id"]).execute();
    expect(rows).toEqual([{ clean: true, task_id: ended.id }]);
    // Nothing is to be changed: nothing is stopped, and no snapshot is taken.
    await done(deployTask(shop({ name: "db", instances: 1, disk: "d1", vmType: "big" })));
    expect(await known()).toHaveLength(1);
    await done(stateTask("stopped"));
    expect(await known()).toHaveLength(2);
    // What is stopped already holds nothing new.
    await done(stateTask("started"));
    expect(await known()).toHaveLength(2);
    await done(stateTask("detached"));
    expect(await known()).toHaveLength(3);
  });

  it("are no reason not to update where the CPI takes none; where it fails nothing is changed", async () => {
    const larger = deployTask(shop(web(1), db("d1", "big")));
    const refused = await bench.run(larger, {
      seed: "x",
      interference: refusing("Bosh::Clouds::CloudError"),
    });
    expect(refused.state).toBe("error");
    expect(refused.changing.filter((call) => /detach|delete_vm|create_vm/.test(call))).toEqual([]);
    const ended = await done(larger, refusing("Bosh::Clouds::NotImplemented"));
    expect(ended.calls.filter(({ method }) => method === "snapshot_disk")).toHaveLength(1);
    expect(await known()).toEqual([]);
  });

  it("are of all disks of an instance, whatever their names", async () => {
    await bench.prepare({
      cpi: { remembers: true },
      before: [deployTask(shop(dbWith({ data: "d1", logs: "d2" })))],
    });
    await take();
    expect(await known()).toHaveLength(2);
    await done(stateTask("stopped"));
    expect(await known()).toHaveLength(4);
  });

  it("are taken of all deployments that have disks by one task, which asks for them once", async () => {
    await done(deployTask({ ...shop({ name: "db", instances: 1, disk: "d1" }), name: "other-shop" }));
    await done(deployTask({ ...shop({ name: "db", instances: 1 }), name: "third" }));
    const all = { ...taskOf("snapshot_deployments", {}), deployment: undefined };
    const slow: Interference["cpi"] = async (_, carryOut) => {
      await turns(1000);
      return await carryOut();
    };
    const ended = await bench.run(all, { seed: "by schedule", interference: { cpi: slow } });
    // The tasks it asked for have begun, perhaps: none is left to write into the next test.
    const left = await bench.rowsAsText();
    await turns(3000);
    expect(await bench.rowsAsText()).toBe(left);
    expect(ended.result).toMatch(/^Enqueued snapshot tasks \[\d+, \d+\]$/);
    const asked = await bench.db
      .selectFrom("tasks")
      .select("deployment_name")
      .where("context_id", "=", `snapshot_deployments-${ended.id}`)
      .orderBy("id")
      .execute();
    expect(asked.map(({ deployment_name: name }) => name)).toEqual(["other-shop", "shop"]);
  });

  it("go with their disk to the orphan list, back to an instance, and end with it", async () => {
    await take();
    await done(deployTask(shop({ name: "db", instances: 1 })));
    expect(await known()).toHaveLength(2);
    const [orphan = ""] = (await bench.remembered()).orphanDisks;
    await done(stateTask("stopped"));
    const { instance } = await ofDb();
    await done(
      taskOf("attach_disk", { deployment: "shop", group: "db", instance: instance.uuid, disk_cid: orphan }),
    );
    expect(await known()).toHaveLength(2);
    await done(taskOf("orphan_disk", { disk_cid: orphan }));
    const deleting = taskOf("delete_orphan_disks", { disk_cids: [orphan] });
    const ended = await bench.run(deleting, { seed: "delete" });
    expect(ended.calls.map(({ method }) => method).filter((name) => name.startsWith("delete"))).toEqual([
      "delete_snapshot",
      "delete_snapshot",
      "delete_disk",
    ]);
    expect(bench.world.snapshots.size).toBe(0);
    expect(await known()).toEqual([]);
  });
});
