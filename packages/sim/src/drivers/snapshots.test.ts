import { activeDisk, activeVm } from "@slipway/engine/model/records";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, shop, small, stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { Interference } from "./outside.ts";
import { Bench, type Ended } from "./testing/bench.ts";

sampleTests(1 / 3);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [deployTask(small)] }));

let runs = 0;
const done = async (task: Parameters<Bench["run"]>[0], interference: Interference = {}): Promise<Ended> => {
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

  it("that the cloud refuses are counted, and one it cannot take is none", async () => {
    const refused = await take(refusing("Bosh::Clouds::CloudError"));
    expect(refused.result).toBe("snapshots of deployment 'shop' created, with 1 failure(s)");
    const unable = await take(refusing("Bosh::Clouds::NotImplemented"));
    expect(unable.result).toBe("snapshots of deployment 'shop' created");
    expect(await known()).toEqual([]);
  });

  it("go with their disk to the orphan list, back to an instance, and end with it", async () => {
    await take();
    await done(deployTask(shop({ name: "db", instances: 1 })));
    expect(await known()).toHaveLength(1);
    const [orphan = ""] = (await bench.remembered()).orphanDisks;
    await done(stateTask("stopped"));
    const { instance } = await ofDb();
    await done(
      taskOf("attach_disk", { deployment: "shop", group: "db", instance: instance.uuid, disk_cid: orphan }),
    );
    expect(await known()).toHaveLength(1);
    await done(taskOf("orphan_disk", { disk_cid: orphan }));
    const deleting = taskOf("delete_orphan_disks", { disk_cids: [orphan] });
    const ended = await bench.run(deleting, { seed: "delete" });
    expect(ended.calls.map(({ method }) => method).filter((name) => name.startsWith("delete"))).toEqual([
      "delete_snapshot",
      "delete_disk",
    ]);
    expect(bench.world.snapshots.size).toBe(0);
    expect(await known()).toEqual([]);
  });
});
