import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../store/schema.ts";
import { findTask } from "./list.ts";
import { deploymentLock } from "./locks.ts";
import type { TaskContext } from "./task.ts";
import { type Shaking, shakyDb } from "./testing/shaky-db.ts";
import {
  emptyTables,
  eventsOf,
  gate,
  newTask,
  runnersOf,
  stateOf,
  textOf,
  untilAborted,
} from "./testing/stage.ts";

let db: Db;
let close: () => Promise<void>;
const runners = runnersOf(() => db);
beforeAll(async () => {
  ({ db, close } = await freshDatabase());
});
afterAll(() => close());
beforeEach(() => emptyTables(db));
afterEach(async () => {
  // A Director whose time stands still would wait for ever for the work of a test that failed.
  for (const wake of asleep.splice(0)) wake();
  await runners.stopAll();
  runners.errors.splice(0);
});

const SHOP = deploymentLock("shop");
/** Ended by a test only: none ends while it runs, however long that takes. */
const LEASE_MS = 3_600_000;
const asleep: (() => void)[] = [];
const reaches = (id: number, state: string) => expect.poll(() => stateOf(db, id)).toBe(state);
const leaseOf = (id: number) =>
  db
    .selectFrom("tasks")
    .select(["state", "lease_owner", "lease_until", "attempts"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
/** Returns all that a run of a task may write, except for the times until which it is held. */
const everythingOf = async (id: number) => ({
  task: await db
    .selectFrom("tasks")
    .select(["state", "result", "lease_owner", "attempts"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow(),
  locks: await db.selectFrom("locks").select(["name", "task_id", "owner"]).orderBy("name").execute(),
  events: await db.selectFrom("events").selectAll().orderBy("id").execute(),
  outputs: await Promise.all(
    (["event", "result", "debug", "cpi"] as const).map((kind) => textOf(db, id, kind)),
  ),
});
const expireLease = (id: number) =>
  db
    .updateTable("tasks")
    .set({ lease_until: new Date(0) })
    .where("id", "=", id)
    .execute();

/** A Director whose time stands still: it renews nothing and sees nothing, as one that hangs. Its task is in a step. */
async function hanging() {
  const clock = fakeClock({ start: 1_731_700_000_000 });
  const wakes = gate();
  asleep.push(wakes.open);
  const began = gate<TaskContext>();
  const runner = runners.start(
    {
      update_deployment: (_, context) =>
        context.withLock(SHOP, 0, () =>
          context.stage("S").step("a", async () => {
            await clock.advance(100);
            began.open(context);
            await wakes.opened;
            context.result("stale");
            context.warn("stale");
            return "stale";
          }),
        ),
    },
    // Its last look for work may still be on its way when the test goes on: it has no hands for more than the one task.
    { clock, leaseMs: LEASE_MS, flushMs: 100, pollMs: 2 * LEASE_MS, workers: 1, quickWorkers: 0 },
  );
  const id = await runner.enqueue(newTask());
  const context = await began.opened;
  await expect.poll(async () => (await eventsOf(db, id)).length).toBe(1);
  return { id, clock, context, wakes, runner };
}

describe("a task whose Director is gone", () => {
  it("is taken over when its lease ends; the old run learns of it at its next beat and writes nothing more", async () => {
    const { id, clock, context, wakes } = await hanging();
    const finishNow = gate();
    const before = await textOf(db, id, "event");
    await expireLease(id);
    runners.start({
      update_deployment: (_, fresh) =>
        fresh.withLock(SHOP, 0, () =>
          fresh.stage("S").step("a", async () => {
            await finishNow.opened;
            fresh.result("fresh");
            return `attempt ${fresh.attempt}`;
          }),
        ),
    });
    await expect.poll(async () => (await leaseOf(id)).attempts).toBe(2);
    await clock.advance(LEASE_MS / 3);
    await expect.poll(() => context.signal.reason).toMatchObject({ code: "DIT-001" });
    wakes.open();
    finishNow.open();
    await reaches(id, "done");
    expect((await findTask(db, id))?.result).toBe("attempt 2");
    expect(await textOf(db, id, "result")).toBe('"fresh"\n');
    const after = await textOf(db, id, "event");
    expect(after.startsWith(before)).toBe(true);
    expect((await eventsOf(db, id)).map((line) => line.state ?? line.message)).toEqual([
      "started",
      "The task was interrupted and goes on.",
      "started",
      "finished",
    ]);
  });

  it("changes nothing if the old run wakes up unaware: no record, no lock, no event, no output", async () => {
    const { id, context, wakes } = await hanging();
    const finishNow = gate();
    const began = gate();
    await expireLease(id);
    runners.start({
      update_deployment: (_, fresh) =>
        fresh.withLock(SHOP, 0, async () => {
          began.open();
          await finishNow.opened;
          return `attempt ${fresh.attempt}`;
        }),
    });
    await began.opened;
    // What the new run has said of itself is written by now; it says nothing more until it may finish.
    await expect.poll(async () => (await eventsOf(db, id)).length).toBe(2);
    await expect.poll(() => textOf(db, id, "debug")).toContain("attempt 2");
    const before = await everythingOf(id);
    expect(before.locks).toEqual([expect.objectContaining({ name: SHOP, task_id: id })]);
    expect(before.task).toMatchObject({ state: "processing", attempts: 2 });

    // Its time stands still: it still believes that the task is its own.
    expect(context.signal.aborted).toBe(false);
    const other = deploymentLock("other");
    const stale = { action: "create", objectType: "vm", objectName: "stale" } as const;
    await expect(context.audit(stale)).rejects.toMatchObject({ code: "DIT-001" });
    await expect(context.write(async (tx) => tx.deleteFrom("locks").execute())).rejects.toMatchObject({
      code: "DIT-001",
    });
    await expect(context.withLock(other, 0, async () => "stale")).rejects.toMatchObject({ code: "DIT-001" });
    wakes.open();
    await expect.poll(() => context.signal.aborted).toBe(true);
    expect(await everythingOf(id)).toEqual(before);

    finishNow.open();
    await reaches(id, "done");
    expect((await findTask(db, id))?.result).toBe("attempt 2");
    expect(await db.selectFrom("locks").selectAll().execute()).toEqual([]);
  });

  it("is not taken by others while its lease holds", async () => {
    const { id, wakes } = await hanging();
    const other = runners.start({ update_deployment: async () => "other", vms: async () => "" });
    await reaches(await other.enqueue(newTask({ type: "vms" })), "done");
    expect((await leaseOf(id)).attempts).toBe(1);
    wakes.open();
    await reaches(id, "done");
    expect((await findTask(db, id))?.result).toBe("stale");
  });

  it("is resumed at once, with its lock, by a Director that is the only one, oldest first", async () => {
    const { id, wakes } = await hanging();
    const order: number[] = [];
    const work = async (_: object, context: TaskContext) => {
      order.push(context.id);
      return context.withLock(SHOP, 0, async () => `attempt ${context.attempt}`);
    };
    const alone = { alone: true, workers: 1 };
    const runner = runners.start({ update_deployment: work, delete_deployment: work }, alone);
    const next = await runner.enqueue(newTask({ type: "delete_deployment" }));
    await reaches(next, "done");
    expect(order).toEqual([id, next]);
    expect((await findTask(db, id))?.result).toBe("attempt 2");
    wakes.open();
  });

  it("is not begun again if it was canceled", async () => {
    const { id, wakes } = await hanging();
    const other = runners.start({
      update_deployment: () => Promise.reject(new Error("it was begun")),
    });
    expect(await other.cancel(id)).toBe(true);
    expect(await stateOf(db, id)).toBe("cancelling");
    await expireLease(id);
    await reaches(id, "cancelled");
    expect((await eventsOf(db, id)).at(-1)?.error).toEqual({ code: 10001, message: `Task ${id} cancelled` });
    expect(await db.selectFrom("locks").selectAll().execute()).toEqual([]);
    wakes.open();
  });
});

describe("a Director that cannot reach the database", () => {
  it.each([
    [false, "stops its work before another may begin it"],
    [true, "goes on when there is no other"],
  ])("(alone: %s) %s, and ends it when it can", async (alone) => {
    let mode: Shaking = "works";
    const clock = fakeClock();
    const began = gate<TaskContext>();
    const finishNow = gate();
    const runner = runners.start(
      {
        update_deployment: async (_, context) => {
          began.open(context);
          await Promise.race([finishNow.opened, untilAborted(context.signal)]);
          return `attempt ${context.attempt}`;
        },
      },
      { db: shakyDb(db, () => mode), clock, alone, leaseMs: LEASE_MS, pollMs: LEASE_MS / 1000 },
    );
    const id = await runner.enqueue(newTask());
    const context = await began.opened;
    mode = "refuses";
    await clock.advance(LEASE_MS * 0.95);
    expect(context.signal.aborted).toBe(!alone);
    mode = "works";
    finishNow.open();
    await expect
      .poll(async () => {
        await clock.advance(LEASE_MS / 1000);
        return stateOf(db, id);
      })
      .toBe("done");
    expect((await findTask(db, id))?.result).toBe(alone ? "attempt 1" : "attempt 2");
  });

  it("ends a task whose end could not be written, once", async () => {
    let mode: Shaking = "works";
    const clock = fakeClock();
    const shaky = shakyDb(db, () => mode);
    const runner = runners.start(
      {
        update_deployment: async (_, context) => {
          context.warn("once");
          context.result("once");
          mode = "refuses";
          return "";
        },
      },
      { db: shaky, clock, alone: true },
    );
    const id = await runner.enqueue(newTask());
    await expect.poll(() => runners.errors.length).toBeGreaterThan(0);
    for (const next of ["refuses", "forgets to answer", "works"] as const) {
      mode = next;
      await clock.advance(1000);
    }
    await expect
      .poll(async () => {
        await clock.advance(1000);
        return stateOf(db, id);
      })
      .toBe("done");
    expect((await eventsOf(db, id)).map((line) => line.message)).toEqual(["once"]);
    expect(await textOf(db, id, "result")).toBe('"once"\n');
    expect((await leaseOf(id)).attempts).toBe(1);
  });
});

describe("a stop", () => {
  it("hands back what runs: it has not failed, keeps its lock, and goes on at the next start", async () => {
    const began = gate();
    const runner = runners.start(
      {
        update_deployment: (_, context) =>
          context.withLock(SHOP, 0, () =>
            context.stage("S").step("a", () => {
              began.open();
              return untilAborted(context.signal);
            }),
          ),
      },
      { workers: 1 },
    );
    const id = await runner.enqueue(newTask());
    await began.opened;
    const waiting = await runner.enqueue(newTask({ type: "delete_deployment" }));
    await runner.stop();
    expect(await leaseOf(id)).toEqual({
      state: "processing",
      lease_owner: null,
      lease_until: null,
      attempts: 1,
    });
    expect((await eventsOf(db, id)).map((line) => line.state)).toEqual(["started"]);
    expect(await db.selectFrom("locks").select("task_id").execute()).toEqual([{ task_id: id }]);
    expect(await stateOf(db, waiting)).toBe("queued");
    runners.start({
      update_deployment: (_, context) => context.withLock(SHOP, 0, async () => `attempt ${context.attempt}`),
    });
    await reaches(id, "done");
    expect((await findTask(db, id))?.result).toBe("attempt 2");
  });

  it("waits for what ends soon", async () => {
    const began = gate();
    const finishNow = gate();
    const runner = runners.start(
      {
        update_deployment: async (_, context) => {
          began.open();
          await finishNow.opened;
          context.signal.throwIfAborted();
          return "in time";
        },
      },
      { stopGraceMs: 60_000 },
    );
    const id = await runner.enqueue(newTask());
    await began.opened;
    const stopped = runner.stop();
    finishNow.open();
    await stopped;
    expect(await findTask(db, id)).toMatchObject({ state: "done", result: "in time" });
  });

  it("does not wait forever for work that does not listen, which is not run a second time meanwhile", async () => {
    const began = gate();
    const deaf = gate();
    const runner = runners.start(
      {
        update_deployment: async () => {
          began.open();
          await deaf.opened;
          return "after all";
        },
      },
      { stopUnwindMs: 20 },
    );
    const id = await runner.enqueue(newTask());
    await began.opened;
    await runner.stop();
    const other = runners.start({ update_deployment: async () => "other", vms: async () => "" });
    await reaches(await other.enqueue(newTask({ type: "vms" })), "done");
    expect(await leaseOf(id)).toMatchObject({ state: "processing", attempts: 1 });
    deaf.open();
    await reaches(id, "done");
    expect((await findTask(db, id))?.result).toBe("after all");
  });
});
