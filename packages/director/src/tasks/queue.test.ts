import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../store/open.ts";
import type { Db } from "../store/schema.ts";
import { type ClaimOptions, claim, finish, release, renew } from "./queue.ts";
import { emptyTables, queued, stateOf, textOf } from "./testing/stage.ts";

let db: Db;
let store: Store;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, store, close } = await freshDatabase());
});
afterAll(() => close());
beforeEach(() => emptyTables(db));

const take = (owner: string, over: Partial<ClaimOptions> = {}) =>
  claim(db, { owner, leaseMs: 60_000, types: ["vms"], others: true, running: [], alone: false, ...over });
const expire = (id: number) =>
  db
    .updateTable("tasks")
    .set({ lease_until: new Date(0) })
    .where("id", "=", id)
    .execute();
const done = { state: "done", result: "", output: "" } as const;

async function taken(owner: string, over: Partial<ClaimOptions> = {}) {
  const task = await take(owner, over);
  if (task === undefined) throw new Error("nothing to take");
  return task;
}

describe("the queue", () => {
  it("tells of what changed, and not of looking for it", async () => {
    const told: string[] = [];
    const onNotice = (what: string) => void told.push(what);
    const listener = store.listen({ clock: systemClock, onNotice, onError: () => undefined });
    await expect.poll(() => told).toEqual(["tasks", "locks"]);
    await take("d");
    await db.deleteFrom("locks").execute();
    const id = await queued(db);
    await take("d");
    await take("d", { running: [id] });
    const task = { taskId: id, owner: "d", attempt: 1 };
    await renew(db, task, 60_000);
    await finish(db, task, done);
    // New, taken and done.
    await expect.poll(() => told.slice(2)).toEqual(["tasks", "tasks", "tasks"]);
    await listener.close();
  });

  it("gives each task to one of many who ask at once", async () => {
    for (let i = 0; i < 30; i++) await queued(db);
    const owners = Array.from({ length: 12 }, (_, i) => `d${i}`);
    const got: number[] = [];
    await Promise.all(
      owners.map(async (owner) => {
        const own: number[] = [];
        for (let idle = 0; idle < 3; ) {
          const task = await take(owner, { running: own });
          if (task === undefined) idle += 1;
          else own.push(task.lease.taskId);
        }
        got.push(...own);
      }),
    );
    expect(got).toHaveLength(30);
    expect(new Set(got).size).toBe(30);
  });

  it("gives what was interrupted before what waits, each in the order it came", async () => {
    const [a, b, c, d] = [await queued(db), await queued(db), await queued(db), await queued(db)];
    for (const running of [[], [a], [a, b]]) await taken("dead", { running });
    await expire(b);
    await expire(c);
    const ids = [];
    for (let task = await take("new"); task !== undefined; task = await take("new", { running: ids }))
      ids.push(task.lease.taskId);
    expect(ids).toEqual([b, c, d]);
    expect(await take("new", { running: ids })).toBeUndefined();
    expect((await taken("new", { running: ids, alone: true })).lease).toEqual({
      taskId: a,
      owner: "new",
      attempt: 2,
    });
  });

  it("keeps the lanes apart", async () => {
    const deploy = await queued(db);
    const vms = await queued(db, "vms");
    expect((await taken("d", { others: false })).lease.taskId).toBe(vms);
    expect(await take("d", { others: false, running: [vms] })).toBeUndefined();
    expect((await taken("d", { running: [vms] })).lease.taskId).toBe(deploy);
  });

  it("hands the task over with what it is to do, and remembers when it was first begun", async () => {
    const id = await queued(db, "update_instance", { a: [1, { b: "ü" }] });
    const first = await taken("d1");
    expect(first).toMatchObject({ state: "processing", user: "admin", params: { a: [1, { b: "ü" }] } });
    const started = () =>
      db.selectFrom("tasks").select("started_at").where("id", "=", id).executeTakeFirstOrThrow();
    const before = await started();
    await expire(id);
    await taken("d2");
    expect(await started()).toEqual(before);
  });

  it("lets a lease that was taken over write nothing: no renewal, no end, no hand back", async () => {
    const id = await queued(db);
    const old = await taken("d1");
    await expire(id);
    // The same owner again: the attempt alone tells them apart.
    const fresh = await taken("d1");
    expect(await renew(db, old.lease, 60_000)).toBeUndefined();
    expect(await finish(db, old.lease, { ...done, output: "old\n" })).toBe(false);
    await release(db, old.lease);
    expect(await renew(db, fresh.lease, 60_000)).toBe("processing");
    expect(await finish(db, fresh.lease, { ...done, output: "new\n" })).toBe(true);
    expect(await stateOf(db, id)).toBe("done");
    expect(await textOf(db, id, "result")).toBe("new\n");
    expect(await finish(db, fresh.lease, { ...done, state: "error" })).toBe(false);
    expect(await renew(db, fresh.lease, 60_000)).toBeUndefined();
  });

  it("gives a task that was handed back to the next who asks, in its state", async () => {
    const id = await queued(db);
    await release(db, (await taken("d1")).lease);
    expect(await stateOf(db, id)).toBe("processing");
    expect((await taken("d2")).lease).toEqual({ taskId: id, owner: "d2", attempt: 2 });
  });

  it("gives a task again to the owner whose claim went unheard", async () => {
    const id = await queued(db);
    await taken("d1");
    expect(await take("d2")).toBeUndefined();
    expect((await taken("d1")).lease).toEqual({ taskId: id, owner: "d1", attempt: 2 });
  });
});
