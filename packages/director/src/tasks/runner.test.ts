import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NameTaken } from "../store/errors.ts";
import type { Db } from "../store/schema.ts";
import { findTask } from "./list.ts";
import { deploymentLock } from "./locks.ts";
import type { TaskContext } from "./task.ts";
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

const reaches = (id: number, state: string) => expect.poll(() => stateOf(db, id)).toBe(state);

describe("a task that runs", () => {
  it("may have many that listen whether it is cancelled, and Node does not take them for a leak", async () => {
    const warnings: string[] = [];
    const listener = (warning: Error) => void warnings.push(warning.name);
    process.on("warning", listener);
    try {
      const runner = runners.start({
        update_deployment: async (_, { signal }) => {
          for (let one = 0; one < 20; one++) signal.addEventListener("abort", () => undefined);
          // Warnings come at the end of the turn.
          await new Promise((resolve) => setImmediate(resolve));
          return "";
        },
      });
      await reaches(await runner.enqueue(newTask({})), "done");
    } finally {
      process.off("warning", listener);
    }
    expect(warnings).toEqual([]);
  });

  it("leaves its outputs and its result, all of them before it is over", async () => {
    const runner = runners.start(
      {
        update_deployment: async (params, context) => {
          await context.stage("Preparing", ["a"], 1).step("one", async (progress) => progress("half"));
          context.warn("careful");
          context.debug("looking");
          context.cpi("raw ü");
          context.result({ n: 1 });
          context.result({ n: 2.5 });
          expect([context.user, context.deployment, context.attempt]).toEqual(["admin", "shop", 1]);
          return `/deployments/${String(params.name)}`;
        },
      },
      // What is not flushed at the end would never be.
      { flushMs: 1e9 },
    );
    const id = await runner.enqueue(newTask({ params: { name: "shop" } }));
    await reaches(id, "done");
    expect(await findTask(db, id)).toMatchObject({
      result: "/deployments/shop",
      timestamp: expect.any(Number),
    });
    const lines = (await eventsOf(db, id)).map((line) => line.state ?? line.type);
    expect(lines).toEqual(["started", "in_progress", "finished", "warning"]);
    expect(await textOf(db, id, "result")).toBe('{"n":1}\n{"n":2.5}\n');
    expect(await textOf(db, id, "cpi")).toBe("raw ü");
    expect(await textOf(db, id, "debug")).toMatch(
      /^\S+Z task 1 \(update_deployment\), attempt 1.*\n\S+Z looking\n$/,
    );
  });

  it("starts at once when it is asked for here, without a look at the clock", async () => {
    const runner = runners.start({ update_deployment: async () => "ok" }, { clock: fakeClock() });
    const first = await runner.enqueue(newTask());
    await reaches(first, "done");
    const second = await runner.enqueue(newTask());
    await reaches(second, "done");
  });

  it("writes to the audit trail in its own name", async () => {
    const runner = runners.start({
      update_deployment: async (_, context) => {
        const parentId = await context.audit({ action: "create", objectType: "vm", objectName: "cid" });
        const error = "at https://u:canary@h";
        await context.audit({ action: "create", objectType: "vm", objectName: "cid", parentId, error });
        return "";
      },
    });
    const id = await runner.enqueue(newTask());
    await reaches(id, "done");
    const rows = await db.selectFrom("events").selectAll().orderBy("id").execute();
    expect(rows).toMatchObject([
      { username: "admin", task_id: id, deployment: "shop", parent_id: null, error: null },
      { parent_id: rows[0]?.id, error: "at https://<redacted>@h" },
    ]);
  });

  it.each([
    [
      "the catalogue",
      () => NameTaken({ name: "a", canonical: "a", holder: "A" }),
      190009,
      expect.stringMatching(/^Invalid deployment name 'a': .* 'A' \(DIS-042\)\. Next: Give /),
    ],
    [
      "our own making",
      () => new TypeError("x is undefined"),
      100,
      "x is undefined (unexpected; see `bosh task 1 --debug`)",
    ],
  ])("ends in error with an error of %s", async (_, make, code, message) => {
    const runner = runners.start({ update_deployment: () => Promise.reject(make()) });
    const id = await runner.enqueue(newTask());
    await reaches(id, "error");
    expect(await eventsOf(db, id)).toEqual([{ time: expect.any(Number), error: { code, message } }]);
    expect((await findTask(db, id))?.result).toBe(make().message);
    expect(await textOf(db, id, "debug")).toMatch(/Error: .*\n\s+at /);
  });

  it("ends in error when its type is unknown, and when the work throws before it begins", async () => {
    const runner = runners.start({
      vms: () => {
        throw new Error("at once");
      },
    });
    const unknown = await runner.enqueue(newTask());
    const thrown = await runner.enqueue(newTask({ type: "vms" }));
    await reaches(unknown, "error");
    await reaches(thrown, "error");
    expect((await findTask(db, unknown))?.result).toContain("does not know how to run task 1");
  });

  it("does not keep a question waiting, however many deploys run", async () => {
    const works = {
      update_deployment: (_: object, context: TaskContext) => untilAborted(context.signal),
      vms: async () => "",
      instances: async () => "",
    };
    const runner = runners.start(works, { workers: 2 });
    const deploys = [await queued(db), await queued(db), await queued(db)];
    const states = () => Promise.all(deploys.map((id) => stateOf(db, id)));
    // A look that began before them takes questions first.
    await expect.poll(states).toEqual(["processing", "processing", "queued"]);
    const vms = await runner.enqueue(newTask({ type: "vms" }));
    const instances = await runner.enqueue(newTask({ type: "instances" }));
    await reaches(vms, "done");
    await reaches(instances, "done");
    expect(await states()).toEqual(["processing", "processing", "queued"]);
  });

  it("keeps its lock from other tasks, whose error names the holder", async () => {
    const go = gate();
    const work = (_: object, context: TaskContext) =>
      context.withLock(deploymentLock("shop"), 0, async () => {
        await go.opened;
        return "";
      });
    const runner = runners.start({ update_deployment: work, delete_deployment: work });
    const first = await runner.enqueue(newTask());
    await expect.poll(() => db.selectFrom("locks").select("task_id").execute()).toEqual([{ task_id: first }]);
    const second = await runner.enqueue(newTask({ type: "delete_deployment" }));
    await reaches(second, "error");
    const [line] = await eventsOf(db, second);
    expect(line?.error).toMatchObject({
      code: 100,
      message: expect.stringMatching(
        /^deployment 'shop' is locked by task 1 \(create deployment, admin\) since (\S+ )?\S+ UTC \(DIT-010\)\. Next: Wait/,
      ),
    });
    go.open();
    await reaches(first, "done");
    expect(await db.selectFrom("locks").selectAll().execute()).toEqual([]);
  });

  it("is stopped when it has lost its lock", async () => {
    const locked = gate();
    const clock = fakeClock();
    const leaseMs = 30_000;
    const runner = runners.start(
      {
        update_deployment: (_, context) =>
          context.withLock(deploymentLock("shop"), 0, async () => {
            locked.open();
            return untilAborted(context.signal);
          }),
      },
      { clock, leaseMs },
    );
    const id = await runner.enqueue(newTask());
    await locked.opened;
    await db.deleteFrom("locks").execute();
    // The lease is renewed three times within its length, and the locks with it.
    await clock.advance(leaseMs / 3);
    await reaches(id, "error");
    expect((await findTask(db, id))?.result).toContain("has lost the lock of deployment 'shop'");
  });
});

describe("runners that share a store", () => {
  it("never run a task twice, and leave none", async () => {
    const ids = [];
    for (let i = 0; i < 60; i++) ids.push(await queued(db, i % 4 === 0 ? "vms" : "update_deployment"));
    const ran: number[] = [];
    const work = async (_: object, context: TaskContext) => {
      ran.push(context.id);
      await context.stage("S").step("a", () => stateOf(db, context.id));
      return "";
    };
    for (let i = 0; i < 3; i++) runners.start({ update_deployment: work, vms: work });
    await expect
      .poll(() => db.selectFrom("tasks").select("id").where("state", "<>", "done").execute())
      .toEqual([]);
    expect(ran.sort((a, b) => a - b)).toEqual(ids);
  });
});
