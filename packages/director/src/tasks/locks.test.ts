import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Lease } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { deploymentLock, instanceLock, type LockOptions, listLocks, TaskLocks } from "./locks.ts";
import { Notifier } from "./notifier.ts";
import { claim, finish, release } from "./queue.ts";
import { emptyTables, gate, queued } from "./testing/stage.ts";

let db: Db;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await freshDatabase());
});
afterAll(() => close());
beforeEach(() => emptyTables(db));

const SHOP = deploymentLock("shop");
const never = new AbortController().signal;
const nothing = () => Promise.resolve();

async function task(running: readonly number[] = []): Promise<Lease> {
  const options = { owner: "d", leaseMs: 60_000, types: [], others: true, running, alone: false };
  let claimed = await claim(db, options);
  if (claimed === undefined) {
    await queued(db);
    claimed = await claim(db, options);
  }
  if (claimed === undefined) throw new Error("nothing to take");
  return claimed.lease;
}

const locksOf = (lease: Lease, over: Partial<LockOptions> = {}) =>
  new TaskLocks(db, lease, {
    clock: systemClock,
    signal: never,
    keep: () => false,
    onLost: () => undefined,
    released: new Notifier(),
    onError: (error) => {
      throw error;
    },
    ...over,
  });

const row = () => db.selectFrom("locks").selectAll().where("name", "=", SHOP).executeTakeFirst();
const expire = () =>
  db
    .updateTable("locks")
    .set({ expires_at: new Date(0) })
    .execute();
const ended = { state: "done", result: "", output: "" } as const;

describe("a lock", () => {
  it("is held by one at a time, and free again after the work, whether it went well or not", async () => {
    const first = await task();
    const leases = [first, await task([first.taskId])];
    let inside = 0;
    let most = 0;
    await Promise.all(
      [...leases, ...leases, ...leases].map((lease, i) =>
        locksOf(lease)
          .withLock(SHOP, 20_000, async () => {
            inside += 1;
            most = Math.max(most, inside);
            await row();
            inside -= 1;
            if (i % 2 === 0) throw new Error("failed");
          })
          .catch(() => undefined),
      ),
    );
    expect(most).toBe(1);
    expect(await row()).toBeUndefined();
  });

  it("names its holder and since when if it is taken", async () => {
    const holder = await task();
    const other = await task([holder.taskId]);
    const done = gate();
    const holding = gate();
    const work = locksOf(holder).withLock(SHOP, 0, async () => {
      holding.open();
      await done.opened;
    });
    await holding.opened;
    const since = new Date("2024-02-03T12:03:01.987Z");
    const refused = () => locksOf(other).withLock(SHOP, 0, nothing);
    await expect(refused()).rejects.toThrow(
      /^deployment 'shop' is locked by task 1 \(create deployment, admin\) since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC$/,
    );
    await db.updateTable("locks").set({ acquired_at: since }).execute();
    await expect(refused()).rejects.toThrow("since 2024-02-03 12:03:01 UTC");
    await expect(refused()).rejects.toMatchObject({ code: "DIT-010", number: 100 });
    done.open();
    await work;
  });

  it("is waited for and reported if a resurrection holds it, while another task's lock ends the wait", async () => {
    const holder = await task();
    await db.updateTable("tasks").set({ type: "cck_scan_and_fix" }).where("id", "=", holder.taskId).execute();
    const other = await task([holder.taskId]);
    const done = gate();
    const holding = gate();
    const work = locksOf(holder).withLock(SHOP, 0, async () => {
      holding.open();
      await done.opened;
    });
    await holding.opened;
    const said: string[] = [];
    const waits = (message: string) => {
      said.push(message);
      done.open();
    };
    await locksOf(other, { waits }).withLock(SHOP, 1, nothing);
    expect(said).toEqual([`Waiting for task ${holder.taskId}, which replaces VMs of deployment 'shop'`]);
    await work;
    // Who does not want to wait at all does not.
    const again = gate();
    const held = gate();
    const more = locksOf(holder).withLock(SHOP, 0, async () => {
      held.open();
      await again.opened;
    });
    await held.opened;
    await expect(locksOf(other, { waits }).withLock(SHOP, 0, nothing)).rejects.toThrow(/is locked by task/);
    await db
      .updateTable("tasks")
      .set({ type: "update_deployment" })
      .where("id", "=", holder.taskId)
      .execute();
    await expect(locksOf(other, { waits }).withLock(SHOP, 1, nothing)).rejects.toThrow(/is locked by task/);
    expect(said).toHaveLength(1);
    again.open();
    await more;
  });

  it("does not keep another from a different thing", async () => {
    const locks = locksOf(await task());
    const inner = () => locks.withLock(instanceLock("u1"), 0, () => listLocks(db));
    const both = await locks.withLock(SHOP, 0, inner);
    expect(both.map((lock) => [lock.type, lock.resource])).toEqual([
      ["deployment", ["shop"]],
      ["instance", ["u1"]],
    ]);
    expect(await listLocks(db)).toEqual([]);
  });

  it("is taken over at once by the same task after an interruption, and by no other, even when it has expired", async () => {
    const before = await task();
    const stay = gate();
    const held = gate();
    const crashed = locksOf(before, { keep: () => true }).withLock(SHOP, 0, async () => {
      held.open();
      await stay.opened;
    });
    await held.opened;
    const first = await row();
    await expire();
    await release(db, before);
    const after = await task();
    expect(after.taskId).toBe(before.taskId);
    const other = await task([after.taskId]);
    await expect(locksOf(other).withLock(SHOP, 0, nothing)).rejects.toThrow("is locked by task 1");
    await locksOf(after).withLock(SHOP, 0, async () => {
      expect((await row())?.acquired_at).toEqual(first?.acquired_at);
      // The run that lost it can neither take it back nor let it go.
      await expect(locksOf(before).withLock(SHOP, 0, nothing)).rejects.toThrow(
        "is no longer run by this Director",
      );
      stay.open();
      await crashed;
      expect((await row())?.owner).toContain(`#${after.taskId}.${after.attempt}`);
    });
    expect(await row()).toBeUndefined();
  });

  it("goes with the end of its task, and an expired one whose task is over is free", async () => {
    const first = await task();
    const keep = { keep: () => true };
    await locksOf(first, keep).withLock(SHOP, 0, nothing);
    expect(await row()).toBeDefined();
    await finish(db, first, ended);
    expect(await row()).toBeUndefined();

    const values = { name: SHOP, task_id: first.taskId, owner: "x", expires_at: new Date(0) };
    await db.insertInto("locks").values(values).execute();
    const second = await task([first.taskId]);
    await locksOf(second).withLock(SHOP, 0, nothing);
  });

  it("makes its holder fail if it is lost", async () => {
    const lost: Error[] = [];
    const events: unknown[] = [];
    const locks = locksOf(await task(), {
      onLost: (error) => lost.push(error),
      audit: (event) => Promise.resolve(events.push(event)),
    });
    const work = locks.withLock(SHOP, 0, async () => {
      await locks.renew();
      expect(lost).toEqual([]);
      await db.updateTable("locks").set({ owner: "thief" }).execute();
      await locks.renew();
    });
    await expect(work).rejects.toThrow("task 1 has lost the lock of deployment 'shop'");
    expect(lost).toHaveLength(1);
    const of = { objectType: "lock", objectName: SHOP, deployment: "shop" };
    expect(events).toEqual([
      { ...of, action: "acquire" },
      { ...of, action: "lost", error: expect.stringContaining("has lost the lock of deployment 'shop'") },
    ]);
    expect((await row())?.owner).toBe("thief");
  });

  it("is kept alive while it is held", async () => {
    const locks = locksOf(await task());
    await locks.withLock(SHOP, 0, async () => {
      await expire();
      await locks.renew();
      expect((await row())?.expires_at.getTime()).toBeGreaterThan(systemClock.now() + 100_000);
    });
  });

  it("is waited for no longer than the task is wanted", async () => {
    const first = await task();
    const other = await task([first.taskId]);
    const controller = new AbortController();
    await locksOf(first).withLock(SHOP, 0, async () => {
      const waiting = locksOf(other, { signal: controller.signal }).withLock(SHOP, 1e9, nothing);
      controller.abort(new Error("cancelled"));
      await expect(waiting).rejects.toThrow("cancelled");
    });
  });
});

describe("the list of locks", () => {
  it("has the CLI's shape, and forgets locks that were not held for a minute", async () => {
    const soon = new Date("2100-01-01T00:00:00.250Z");
    const rows = [
      { name: "lock:stemcells:ubuntu:1.2", task_id: 42, owner: "a", expires_at: soon },
      { name: "lock:deployment:old", task_id: 43, owner: "b", expires_at: new Date(0) },
    ];
    await db.insertInto("locks").values(rows).execute();
    expect(await listLocks(db)).toEqual([
      { type: "stemcells", resource: ["ubuntu", "1.2"], timeout: "4102444800.250000", task_id: "42" },
    ]);
  });
});
