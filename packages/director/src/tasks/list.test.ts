import type { TaskState, TaskType } from "@slipway/protocol/director/task";
import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../store/schema.ts";
import { cancelTasks, findTask, listTasks, taskFilter } from "./list.ts";
import { enqueue } from "./queue.ts";
import { deleteOldTasks, dropOldOutputs } from "./retention.ts";
import { emptyTables, newTask, stateOf, textOf } from "./testing/stage.ts";

let db: Db;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await freshDatabase());
});
afterAll(() => close());
beforeEach(() => emptyTables(db));

const clock = fakeClock({ start: 1_731_700_050_999 });

async function add(type: TaskType, state: TaskState, deployment = "shop", contextId = ""): Promise<number> {
  const id = await enqueue(db, newTask({ type, deployment, contextId }));
  await db.updateTable("tasks").set({ state }).where("id", "=", id).execute();
  return id;
}

describe("a task as the CLI reads it", () => {
  it("has whole seconds, and nulls for what has not happened", async () => {
    const id = await enqueue(db, newTask({ contextId: "c" }));
    const waiting = {
      id,
      state: "queued",
      description: "create deployment",
      timestamp: null,
      started_at: null,
      result: null,
      user: "admin",
      deployment: "shop",
      context_id: "c",
    };
    expect(await findTask(db, id)).toEqual(waiting);
    const times = {
      started_at: new Date(1_731_700_000_999),
      finished_at: new Date(1_731_700_050_001),
    };
    await db
      .updateTable("tasks")
      .set({ ...times, state: "done", result: "/deployments/shop" })
      .execute();
    expect(await findTask(db, id)).toEqual({
      ...waiting,
      state: "done",
      timestamp: 1_731_700_050,
      started_at: 1_731_700_000,
      result: "/deployments/shop",
    });
    expect(await findTask(db, id + 1)).toBeUndefined();
  });
});

describe("the list of tasks", () => {
  it.each([
    [{}, [5, 4, 1]],
    [{ verbose: "1" }, [5, 4, 1]],
    [{ verbose: "2" }, [5, 4, 3, 2, 1]],
    [{ verbose: "2", limit: "2" }, [5, 4]],
    [{ verbose: "2", limit: "0" }, [5]],
    [{ verbose: "2", state: "processing,cancelling,queued" }, [3, 2, 1]],
    [{ verbose: "2", state: "nonsense" }, []],
    [{ verbose: "2", deployment: "blog" }, [4]],
    [{ verbose: "2", context_id: "c" }, [5]],
  ])("has for %o the ids %o", async (query, ids) => {
    await add("update_deployment", "queued");
    await add("vms", "processing");
    await add("instances", "cancelling");
    await add("delete_deployment", "done", "blog");
    await add("update_stemcell", "error", "shop", "c");
    expect((await listTasks(db, taskFilter(query))).map((task) => task.id)).toEqual(ids);
  });

  it("refuses an invalid limit", () => {
    expect(() => taskFilter({ limit: "many" })).toThrow("'limit' of the task query must be a whole number");
  });
});

describe("a cancel", () => {
  it("ends what waits and says so, tells what runs, and leaves alone what is over", async () => {
    const ids = new Map<TaskState, number>();
    for (const state of ["queued", "processing", "cancelling", "done", "error"] as const)
      ids.set(state, await add("update_deployment", state));
    const states: TaskState[] = [...ids.keys()];
    expect(new Set(await cancelTasks(db, clock, { states }))).toEqual(new Set([1, 2, 3]));
    expect(await Promise.all([1, 2, 3, 4, 5].map((id) => stateOf(db, id)))).toEqual([
      "cancelled",
      "cancelling",
      "cancelling",
      "done",
      "error",
    ]);
    expect(await textOf(db, 1, "event")).toBe(
      '{"time":1731700050,"error":{"code":10001,"message":"Task 1 cancelled"}}\n',
    );
    expect((await findTask(db, 1))?.timestamp).toEqual(expect.any(Number));
    expect((await findTask(db, 2))?.timestamp).toBeNull();
    expect(await textOf(db, 2, "event")).toBe("");
  });

  it.each([
    [{ states: ["queued"] }, [1, 2, 3]],
    [{ states: ["queued"], deployment: "blog" }, [2]],
    [{ states: ["queued"], types: ["vms"] }, [3]],
    [{ states: ["queued", "processing"], types: ["vms"] }, [3, 4]],
    [{ states: ["queued", "processing"], id: 4 }, [4]],
    [{ states: ["queued"], types: [] }, []],
  ] as const)("picks for the filter %o the tasks %o", async (filter, ids) => {
    await add("update_deployment", "queued");
    await add("update_deployment", "queued", "blog");
    await add("vms", "queued");
    await add("vms", "processing");
    expect([...(await cancelTasks(db, clock, filter))].sort()).toEqual(ids);
  });
});

describe("the retention", () => {
  it("keeps the newest of each type, and all that is not over, with their outputs", async () => {
    for (let i = 0; i < 6; i++) {
      await add("update_deployment", (["done", "error", "cancelled"] as const)[i % 3] ?? "done");
      await add("vms", i < 3 ? "done" : "queued");
    }
    await add("update_deployment", "processing");
    const ids = async () =>
      (await db.selectFrom("tasks").select("id").orderBy("id").execute()).map((t) => t.id);
    for (const id of await ids())
      await db
        .insertInto("task_output")
        .values({ task_id: id, type: "event", start: 0, data: Buffer.from("x") })
        .execute();
    expect(await deleteOldTasks(db, { perType: 2 }, 0)).toBe(5);
    expect(await ids()).toEqual([4, 6, 8, 9, 10, 11, 12, 13]);
    const outputs = await db.selectFrom("task_output").select("task_id").orderBy("task_id").execute();
    expect(outputs.map((one) => one.task_id)).toEqual(await ids());
    expect(await deleteOldTasks(db, { perType: 2 }, 0)).toBe(0);
  });

  it("goes by age where days are configured, of all tasks or of a deployment's", async () => {
    const NOW = Date.parse("2026-11-17T12:00:00Z");
    const ago = (days: number) => new Date(NOW - days * 86_400_000);
    for (const [days, deployment] of [
      [40, "shop"],
      [20, "shop"],
      [20, "blog"],
      [1, "blog"],
    ] as const) {
      const id = await add("update_deployment", "done", deployment);
      await db
        .updateTable("tasks")
        .set({ finished_at: ago(days) })
        .where("id", "=", id)
        .execute();
    }
    await add("update_deployment", "queued", "shop");
    const left = async () =>
      (await db.selectFrom("tasks").select("id").orderBy("id").execute()).map((t) => t.id);
    expect(await deleteOldTasks(db, { perType: 9 }, NOW)).toBe(0);
    expect(await deleteOldTasks(db, { perType: 9, days: 30 }, NOW)).toBe(1);
    expect(await left()).toEqual([2, 3, 4, 5]);
    await deleteOldTasks(db, { perType: 9, days: 30, deployments: [{ name: "blog", days: 7 }] }, NOW);
    expect(await left()).toEqual([2, 4, 5]);
  });

  it("drops outputs of the oldest that are over, and events and results last", async () => {
    const put = (id: number, type: string, size: number) =>
      db
        .insertInto("task_output")
        .values({ task_id: id, type, start: 0, data: Buffer.alloc(size, "x") })
        .execute();
    const left = async () => {
      const rows = await db
        .selectFrom("task_output")
        .selectAll()
        .orderBy("task_id")
        .orderBy("type")
        .execute();
      return rows.map(
        ({ task_id: id, type, data }) => `${id} ${type} ${data[0] === 120 ? data.length : "note"}`,
      );
    };
    for (const state of ["processing", "done", "error"] as const) {
      const id = await add("update_deployment", state);
      for (const type of ["debug", "conversation", "event", "result"]) await put(id, type, 1000);
    }
    const running = ["conversation", "debug", "event", "result"].map((type) => `1 ${type} 1000`);
    const newest = running.map((line) => line.replace("1 ", "3 "));
    expect(await dropOldOutputs(db, 12_000)).toBe(0);
    expect(await dropOldOutputs(db, 10_500)).toBe(2);
    expect(await left()).toEqual([...running, "2 debug note", "2 event 1000", "2 result 1000", ...newest]);
    expect(await dropOldOutputs(db, 10_500)).toBe(0);
    await dropOldOutputs(db, 6500);
    expect(await left()).toEqual([
      ...running,
      "2 debug note",
      "3 debug note",
      "3 event 1000",
      "3 result 1000",
    ]);
    await dropOldOutputs(db, 1);
    expect(await left()).toEqual([...running, "2 debug note", "3 debug note"]);
  });
});
