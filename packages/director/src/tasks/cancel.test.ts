import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../store/schema.ts";
import { cancelTasks } from "./list.ts";
import { deploymentLock } from "./locks.ts";
import { TaskCancelled, type TaskContext, type TaskWork } from "./task.ts";
import {
  emptyTables,
  eventsOf,
  gate,
  newTask,
  queued,
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
  await runners.stopAll();
  expect(runners.errors.splice(0)).toEqual([]);
});

const SHOP = deploymentLock("shop");
const reaches = (id: number, state: string) => expect.poll(() => stateOf(db, id)).toBe(state);
const lastError = async (id: number) => (await eventsOf(db, id)).at(-1)?.error;
const cancelled = (id: number) => ({ code: 10001, message: `Task ${id} cancelled` });

describe("a cancelled task", () => {
  it("never runs if it was still waiting, whether a runner is there or not", async () => {
    const ran: number[] = [];
    const early = await queued(db);
    await cancelTasks(db, systemClock, { id: early, states: ["queued"] });
    const goOn = gate();
    const runner = runners.start(
      {
        update_deployment: async (_, context) => {
          ran.push(context.id);
          await goOn.opened;
          return "";
        },
      },
      { workers: 1 },
    );
    const first = await runner.enqueue(newTask());
    const waiting = await runner.enqueue(newTask());
    const last = await runner.enqueue(newTask());
    await reaches(first, "processing");
    expect(await runner.cancel(waiting)).toBe(true);
    expect(await stateOf(db, waiting)).toBe("cancelled");
    goOn.open();
    await reaches(last, "done");
    expect(ran).toEqual([first, last]);
    for (const id of [early, waiting]) expect(await lastError(id)).toEqual(cancelled(id));
  });

  const moments: Record<string, (context: TaskContext, reached: () => void) => Promise<string>> = {
    "that listens": (context, reached) => {
      reached();
      return untilAborted(context.signal);
    },
    "in the middle of a step": (context, reached) =>
      context.stage("S").step("a", () => {
        reached();
        return untilAborted(context.signal);
      }),
    "between two steps": async (context, reached) => {
      const stage = context.stage("S");
      for (let i = 0; ; i++) {
        await stage.step(`step ${i}`, () => stateOf(db, context.id));
        reached();
      }
    },
    "while it waits for a lock": async (context, reached) => {
      reached();
      return context.withLock(SHOP, 1e9, async () => "got it");
    },
    "whose work fails over it with another error": async (context, reached) => {
      reached();
      await untilAborted(context.signal).catch(() => undefined);
      throw new Error("CPI call ended by a signal");
    },
  };

  it.each(Object.entries(moments))("%s ends", async (_, moment) => {
    await db
      .insertInto("locks")
      .values({ name: SHOP, task_id: 0, owner: "x", expires_at: new Date("2100-01-01") })
      .execute();
    const reached = gate();
    const runner = runners.start({ update_deployment: (_params, context) => moment(context, reached.open) });
    const id = await runner.enqueue(newTask());
    await reached.opened;
    expect(await runner.cancel(id)).toBe(true);
    await reaches(id, "cancelled");
    expect(await lastError(id)).toEqual(cancelled(id));
    expect(await runner.cancel(id)).toBe(false);
  });

  it("shows its step as failed, and what really went wrong in debug", async () => {
    const reached = gate();
    const runner = runners.start({
      update_deployment: (_, context) =>
        context.stage("S").step("a", async () => {
          reached.open();
          await untilAborted(context.signal).catch(() => undefined);
          throw new Error("the CPI was killed");
        }),
    });
    const id = await runner.enqueue(newTask());
    await reached.opened;
    await runner.cancel(id);
    await reaches(id, "cancelled");
    expect((await eventsOf(db, id)).map((line) => line.state)).toEqual(["started", "failed", undefined]);
    expect(await textOf(db, id, "debug")).toContain("the CPI was killed");
  });

  it("gives the work the reason it can tell by, also when another Director was asked", async () => {
    const reasons: unknown[] = [];
    const reached = gate();
    const work: TaskWork = async (_, { signal }) => {
      reached.open();
      return untilAborted(signal).finally(() => reasons.push(signal.reason));
    };
    // Its next beat is far away: it has to look for itself.
    const runner = runners.start({ update_deployment: work }, { leaseMs: 3_600_000 });
    const id = await runner.enqueue(newTask());
    await reached.opened;
    await cancelTasks(db, systemClock, { id, states: ["processing"] });
    await reaches(id, "cancelled");
    expect(reasons[0]).toBeInstanceOf(TaskCancelled);
  });

  it("is done if its work was done all the same", async () => {
    const reached = gate();
    const runner = runners.start({
      update_deployment: async (_, { signal }) => {
        reached.open();
        await untilAborted(signal).catch(() => undefined);
        return "done";
      },
    });
    const id = await runner.enqueue(newTask());
    await reached.opened;
    await runner.cancel(id);
    await reaches(id, "done");
  });

  it("ends as cancelled when the Director stops meanwhile", async () => {
    const reached = gate();
    const letGo = gate();
    const runner = runners.start({
      update_deployment: async (_, { signal }) => {
        reached.open();
        await letGo.opened;
        signal.throwIfAborted();
        return "";
      },
    });
    const id = await runner.enqueue(newTask());
    await reached.opened;
    await runner.cancel(id);
    const stopped = runner.stop();
    letGo.open();
    await stopped;
    expect(await stateOf(db, id)).toBe("cancelled");
  });

  it("ends at any moment, in the state that it reports", async () => {
    const ended: number[] = [];
    const work: TaskWork = async (_, context) => {
      const stage = context.stage("S");
      await context.withLock(`lock:instance:${context.id}`, 1e9, async () => {
        for (let i = 0; i < 4; i++) await stage.step(`step ${i}`, () => stateOf(db, context.id));
      });
      ended.push(context.id);
      return "";
    };
    const two = [runners.start({ update_deployment: work }), runners.start({ update_deployment: work })];
    const ids = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const id = await (two[i % 2] ?? two[0])?.enqueue(newTask());
        for (let turn = 0; turn < i; turn++) await stateOf(db, id ?? 0);
        await two[(i >> 1) % 2]?.cancel(id ?? 0);
        return id ?? 0;
      }),
    );
    for (const id of ids) {
      await expect.poll(() => stateOf(db, id)).toMatch(/^(cancelled|done)$/);
      const over = (await stateOf(db, id)) as string;
      expect(ended.includes(id)).toBe(over === "done");
      expect(await lastError(id)).toEqual(over === "done" ? undefined : cancelled(id));
    }
    expect(await db.selectFrom("locks").selectAll().execute()).toEqual([]);
  });
});
