import { listOrphanDisks } from "@slipway/director/store/disks";
import type { NewTask } from "@slipway/director/tasks/task";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { db, deployTask, shop, stateTask, taskOf, web } from "../crash/scenarios/tasks.ts";
import { cpiError } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import { runHolding } from "./testing/run-holding.ts";
import type { Interference, OutsideCall } from "./watch-clients.ts";

/** Two tasks side by side, one of which deletes what the other is about to use. */

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open({ snapshots: true });
});
afterAll(() => bench.close());

let runs = 0;
/** The CPI remembers requests by their ids, which the seed makes. */
const seed = () => {
  runs += 1;
  return `race ${runs}`;
};
const run = async (task: NewTask, interference: Interference = {}) => {
  const { state, message } = await bench.run(task, { seed: seed(), interference });
  return `${state} ${message}`;
};

const isCall =
  (method: string, subject?: string) =>
  (call: OutsideCall): boolean =>
    call.peer === "cpi" &&
    call.method === method &&
    (subject === undefined || call.request.arguments[0] === subject);

/** Answers calls of these methods in place of the cloud. */
const answering = (answers: Readonly<Record<string, () => ReturnType<typeof cpiError>>>): Interference => ({
  cpi: async (call, carryOut) => await (answers[call.method]?.() ?? carryOut()),
});
const lost = (method: string) => () => {
  throw new CpiLost(method, "it ended without an answer", {});
};
const refused = () => cpiError("Bosh::Clouds::CloudError", "not now");

describe("an orphaned disk that one task deletes and another attaches", () => {
  const scheduled = (days = 0) =>
    taskOf("scheduled_orphaned_disk_cleanup", { max_orphaned_age_in_days: days });
  const deletion = (...cids: readonly string[]) => taskOf("delete_orphan_disks", { disk_cids: [...cids] });
  const cleanups: readonly (readonly [string, (cids: readonly string[]) => NewTask])[] = [
    ["the scheduled cleanup", () => scheduled()],
    ["clean-up --all", () => taskOf("delete_artifacts", { remove_all: true, keep_orphaned_disks: false })],
    ["delete-disk", (cids) => deletion(...cids)],
  ];
  let first = "";
  let second = "";
  let attach: NewTask;

  beforeAll(() =>
    bench.prepare({
      cpi: { remembers: true },
      before: [
        deployTask(shop(web(1), db("d1"))),
        deployTask(shop(web(1), db("d2"))),
        deployTask(shop(web(1), { name: "db", instances: 1 })),
        stateTask("detached"),
      ],
    }),
  );
  beforeEach(async () => {
    await bench.rewind();
    const { orphanDisks, instances } = await bench.remembered();
    [first = "", second = ""] = orphanDisks;
    const instance = instances.find(({ group }) => group === "db")?.uuid ?? "";
    attach = taskOf("attach_disk", { deployment: "shop", group: "db", instance, disk_cid: second });
  });
  const claimed = async () =>
    (await listOrphanDisks(bench.db)).flatMap(({ cid, claim }) => (claim === undefined ? [] : [cid]));
  const attached = async () =>
    (await bench.remembered()).instances.flatMap(({ disks }) => disks.map(({ cid }) => String(cid)));

  it.each(cleanups)("is kept by %s if it is attached first", async (_, cleanup) => {
    const [ended, other] = await runHolding(bench, cleanup([first, second]), {
      at: isCall("delete_disk", first),
      run: attach,
      seed: seed(),
    });
    expect([ended.state, ended.message, other.state, other.message]).toEqual(["done", "", "done", ""]);
    expect(bench.world.deleted).toEqual([first]);
    expect(await attached()).toEqual([second]);
    expect((await bench.remembered()).orphanDisks).toEqual([]);
  });

  it.each(cleanups)("is not attached once %s has begun to delete it", async (_, cleanup) => {
    const [ended, other] = await runHolding(bench, cleanup([first, second]), {
      at: isCall("delete_disk", second),
      run: attach,
      seed: seed(),
    });
    expect(ended.state).toBe("done");
    expect(other.state).toBe("error");
    expect(other.message).toContain(`task ${ended.id} has been deleting the disk ${second} since`);
    expect(await attached()).toEqual([]);
    expect((await bench.remembered()).orphanDisks).toEqual([]);
    expect(bench.world.disks.size).toBe(0);
  });

  it("is not recorded for an instance if it is deleted after attach-disk has found it in the cloud", async () => {
    const [ended, other] = await runHolding(bench, attach, {
      at: isCall("has_disk", second),
      holds: "answer",
      run: deletion(second),
      seed: seed(),
    });
    expect([other.state, other.message]).toEqual(["done", ""]);
    expect(ended.state).toBe("error");
    expect(ended.message).toContain(`the disk ${second} was deleted or given to an instance meanwhile`);
    expect(await attached()).toEqual([]);
  });

  it("is not recorded for an instance while nobody knows whether it was deleted after attach-disk has found it", async () => {
    const [ended, other] = await runHolding(bench, attach, {
      at: isCall("has_disk", second),
      holds: "answer",
      run: deletion(second),
      seed: seed(),
      interference: answering({ delete_disk: lost("delete_disk") }),
    });
    expect([ended.state, other.state]).toEqual(["error", "error"]);
    expect(ended.message).toContain(`has been deleting the disk ${second} since`);
    expect(await attached()).toEqual([]);
    expect(await claimed()).toEqual([second]);
  });

  it("is deleted by one of two tasks that delete it at the same time", async () => {
    const [ended, other] = await runHolding(bench, deletion(second), {
      at: isCall("delete_disk", second),
      run: scheduled(),
      seed: seed(),
    });
    expect([ended.state, other.state, other.message]).toEqual(["done", "done", ""]);
    expect(ended.calls.filter(isCall("delete_disk", second))).toHaveLength(1);
    expect((await bench.remembered()).orphanDisks).toEqual([]);
  });

  it("stays listed and is not attached while nobody knows whether it was deleted, and is deleted next time", async () => {
    expect(await run(deletion(second), answering({ delete_disk: lost("delete_disk") }))).toMatch(/^error /);
    expect(await claimed()).toEqual([second]);
    expect(await run(attach)).toMatch(/^error .*has been deleting the disk/);
    // Its age does not matter any more; that of the other one does.
    expect(await run(scheduled(1))).toBe("done ");
    expect(bench.world.deleted).toEqual([second]);
    expect((await bench.remembered()).orphanDisks).toEqual([first]);
  });

  it("can be attached again after a deletion that the CPI refused, if the CPI says that the disk is there", async () => {
    expect(await run(deletion(second), answering({ delete_disk: refused }))).toMatch(/^error .*not now/);
    expect(await claimed()).toEqual([]);
    expect(await run(attach)).toBe("done ");
    expect(await attached()).toEqual([second]);
  });

  it("stays claimed after a deletion that the CPI refused, unless the CPI says that the disk is there", async () => {
    const silent = answering({ delete_disk: refused, has_disk: refused });
    expect(await run(deletion(second), silent)).toMatch(/^error .*not now/);
    expect(await claimed()).toEqual([second]);
    expect(await run(attach)).toMatch(/^error .*has been deleting the disk/);
    expect(await run(deletion(second))).toBe("done ");
    expect(bench.world.deleted).toEqual([second]);
  });

  it("stays claimed if an earlier deletion had an unknown outcome, whatever the CPI refuses later", async () => {
    await run(deletion(second), answering({ delete_disk: lost("delete_disk") }));
    expect(await run(deletion(second), answering({ delete_disk: refused }))).toMatch(/^error .*not now/);
    expect(await claimed()).toEqual([second]);
  });

  it("stays claimed if a CPI was killed during a deletion that it refused the next time", async () => {
    const answers = [
      () => Promise.reject(new CpiLost("delete_disk", "killed", { killedBy: "SIGKILL" })),
      () => Promise.resolve(refused()),
    ].values();
    const interference: Interference = {
      cpi: (call, carryOut) => (call.method === "delete_disk" ? answers.next().value?.() : carryOut()),
    };
    expect(await run(deletion(second), interference)).toMatch(/^error .*not now/);
    expect(await claimed()).toEqual([second]);
  });

  it("leaves the orphan list if the CPI refuses to delete it and says that it is gone", async () => {
    const gone: Interference = {
      cpi: async (call, carryOut) => {
        const answer = await carryOut();
        return call.method === "delete_disk" ? refused() : answer;
      },
    };
    expect(await run(deletion(second), gone)).toBe("done ");
    expect((await bench.remembered()).orphanDisks).toEqual([first]);
  });

  it("can be attached if only a snapshot of it could not be deleted", async () => {
    const { orphanDisks, snapshots } = await bench.remembered();
    expect([orphanDisks.length, snapshots.length > 0]).toEqual([2, true]);
    const ended = await run(deletion(first, second), answering({ delete_snapshot: refused }));
    expect(ended).toMatch(/^error .*not now/);
    expect(await claimed()).toEqual([]);
  });

  it("is refused for an instance that has another disk before that one is detached", async () => {
    const { instances } = await bench.remembered();
    const uuidOf = (name: string) => instances.find(({ group }) => group === name)?.uuid ?? "";
    const to = (group: string, cid: string) =>
      taskOf("attach_disk", { deployment: "shop", group, instance: uuidOf(group), disk_cid: cid });
    for (const task of [stateTask("stopped"), to("db", first), to("web", second)])
      expect(await run(task)).toBe("done ");
    const ended = await bench.run(to("db", second), { seed: seed() });
    expect(ended.message).toContain(`the disk ${second} belongs to the instance web/${uuidOf("web")}`);
    expect(ended.changing).toEqual([]);
  });
});
