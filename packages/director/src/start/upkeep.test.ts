import type { TransportName } from "@slipway/engine/agents/agent";
import { freshDatabase } from "@slipway/testkit/database";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seedShop } from "../api/testing/seed.ts";
import type { NatsAuthorities } from "../nats/rotation.ts";
import type { Db } from "../store/schema.ts";
import type { NewTask } from "../tasks/task.ts";
import { Upkeep } from "./background-jobs.ts";

const NOW = Date.parse("2025-11-15T12:00:00Z");
const DAY_MS = 86_400_000;
const FIVE_MINUTES = 5 * 60_000;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
let clock: FakeClock;
beforeEach(async () => {
  database = await freshDatabase();
  ({ db } = database);
  clock = fakeClock({ start: NOW });
  await seedShop(db);
});
afterEach(() => database.close());

/** Keeps house; what it asks for is only written down. */
function keeping(
  enqueue: (task: NewTask) => Promise<number> = async () => 1,
  nats?: NatsAuthorities,
  signerDays: Readonly<Record<TransportName, number>> = { https: 3650, nats: 3650 },
  retain?: () => Promise<void>,
) {
  const queued: NewTask[] = [];
  const errors: unknown[] = [];
  const looks = { count: 0 };
  const upkeep = new Upkeep({
    db,
    clock,
    agents: { signerEnds: (by) => NOW + signerDays[by] * DAY_MS },
    nats,
    retain,
    renewCertificate: async () => {
      looks.count += 1;
    },
    tasks: {
      enqueue: (task) => {
        queued.push(task);
        return enqueue(task);
      },
      cancel: () => Promise.reject(new Error("upkeep cancels nothing")),
    },
    onError: (error) => errors.push(error),
  });
  upkeep.start();
  /** The database answers in its own time: the next round is planned when the last one has ended. */
  const round = async () => {
    await clock.advance(FIVE_MINUTES);
    await expect.poll(() => clock.waiting).toBe(1);
  };
  return { queued, errors, looks, upkeep, round };
}

const certificateUntil = (days: number, active = true) =>
  db
    .updateTable("vms")
    .set({ certificate_until: new Date(NOW + days * DAY_MS), active })
    .where("cid", "=", "vm-1")
    .execute();

describe("the Director by itself", () => {
  it("asks for nothing while there is nothing to do, however often it looks", async () => {
    await certificateUntil(3000);
    const { queued, errors, looks, round } = keeping();
    for (let times = 0; times < 3; times += 1) await round();
    expect(looks.count).toBe(3);
    expect(queued).toEqual([]);
    expect(errors).toEqual([]);
  });

  it("looks every five minutes, not before", async () => {
    await certificateUntil(1);
    const { queued, round } = keeping();
    await clock.advance(FIVE_MINUTES - 1);
    expect(queued).toEqual([]);
    await clock.advance(1);
    await expect.poll(() => queued.length).toBe(1);
    await expect.poll(() => clock.waiting).toBe(1);
    await round();
    expect(queued).toHaveLength(2);
  });

  it("has certificates renewed that end soon, of VMs in use only", async () => {
    await certificateUntil(1);
    const { queued, round } = keeping();
    await round();
    expect(queued).toEqual([
      { type: "renew_certificates", description: "renew certificates", user: "scheduler", params: {} },
    ]);
    await certificateUntil(1, false);
    await round();
    expect(queued).toHaveLength(1);
  });

  it("leaves alone certificates that last as long as who signs for them; those that could last longer are renewed", async () => {
    const asks = async (days: number, https: number, nats: number) => {
      await certificateUntil(days);
      const { queued, upkeep, round } = keeping(undefined, undefined, { https, nats });
      await round();
      upkeep.stop();
      return queued.length;
    };
    expect(await asks(60, 60, 3650)).toBe(0);
    expect(await asks(1, 60, 3650)).toBe(1);
    await db.updateTable("vms").set({ agent_url: "nats://10.0.0.6:4222" }).execute();
    expect(await asks(60, 60, 3650)).toBe(1);
    expect(await asks(60, 3650, 60)).toBe(0);
  });

  describe("with agents on NATS", () => {
    const set = (over: { agent_url?: string; nats_trust?: string; active?: boolean }) =>
      db.updateTable("vms").set(over).where("cid", "=", "vm-1").execute();
    const asks = async (now: { next?: string; endsSoon?: boolean } = {}) => {
      const own = {
        now: () => ({ mark: "new", next: now.next }),
        endsSoon: () => now.endsSoon ?? false,
        prepare: () => Promise.reject(new Error("upkeep rotates nothing itself")),
        takeUp: () => Promise.reject(new Error("upkeep rotates nothing itself")),
      };
      const { queued, upkeep, round } = keeping(undefined, { now: own.now, own });
      await round();
      upkeep.stop();
      return queued.map(({ params }) => params);
    };
    beforeEach(() => set({ agent_url: "nats://10.0.0.6:4222" }));

    it("queues a task for agents that have not confirmed whom to trust, and for no others", async () => {
      expect(await asks()).toEqual([{}]);
      await set({ nats_trust: "old" });
      expect(await asks()).toEqual([{}]);
      await set({ nats_trust: "new" });
      expect(await asks()).toEqual([]);
      await set({ nats_trust: "old", agent_url: "https://10.0.0.2:6868" });
      expect(await asks()).toEqual([]);
    });

    it("has the old authority dropped when all have confirmed, not while one does not take part", async () => {
      await set({ nats_trust: "new" });
      expect(await asks({ next: "7" })).toEqual([{}]);
      await set({ nats_trust: "old" });
      await db.updateTable("instances").set({ ignore: true }).execute();
      expect(await asks({ next: "7" })).toEqual([]);
    });

    it("has an authority rotated that ends soon, once", async () => {
      await set({ nats_trust: "new" });
      expect(await asks({ endsSoon: true })).toEqual([{ rotate_nats_ca: "when_due" }]);
      expect(await asks({ endsSoon: true, next: "7" })).toEqual([{}]);
    });
  });

  it("tells of a failure and looks again", async () => {
    await certificateUntil(1);
    const failure = new Error("the queue is closed");
    let fails = true;
    const { queued, errors, round } = keeping(async () => {
      if (fails) throw failure;
      return 1;
    });
    await round();
    expect(errors).toEqual([failure]);
    fails = false;
    await round();
    expect(errors).toEqual([failure]);
    expect(queued).toHaveLength(2);
  });

  it("has certificates renewed also when what is too old cannot be deleted", async () => {
    await certificateUntil(1);
    const failure = new Error("the disk is read-only");
    const { queued, errors, round } = keeping(undefined, undefined, undefined, () => Promise.reject(failure));
    await round();
    expect(errors).toEqual([failure]);
    expect(queued).toHaveLength(1);
  });

  it("does nothing more once it is stopped, also when it is just looking", async () => {
    await certificateUntil(1);
    const idle = keeping();
    idle.upkeep.stop();
    await clock.advance(10 * FIVE_MINUTES);
    expect(idle.queued).toEqual([]);

    // It fails at the first thing it asks for: then it has ended when the error is reported.
    const busy = keeping(() => Promise.reject(new Error("the queue is closed")));
    await clock.advance(FIVE_MINUTES);
    busy.upkeep.stop();
    await expect.poll(() => busy.errors.length).toBe(1);
    await clock.advance(0);
    // No next time is planned.
    expect(clock.waiting).toBe(0);
  });
});
