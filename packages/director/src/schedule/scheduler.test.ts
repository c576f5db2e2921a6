import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedShop, WEB_0 } from "../api/testing/seed.ts";
import { seenSinceRestore } from "../store/restores.ts";
import { takeTurn } from "../store/scheduled-runs.ts";
import type { Db } from "../store/schema.ts";
import { scheduledJobs } from "./jobs.ts";
import { Scheduler } from "./scheduler.ts";

const NOW = Date.parse("2025-11-15T06:58:30Z");
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
let clock: FakeClock;
beforeAll(async () => {
  database = await freshDatabase();
  ({ db } = database);
});
afterAll(() => database.close());
beforeEach(async () => {
  await emptied(database.connection);
  clock = fakeClock({ start: NOW });
  await seedShop(db);
});

type Limits = NonNullable<DirectorConfig["director"]>;

/** A Director with this part of the configuration, as far as it looks at the time. */
async function director(limits: Limits = {}, through: Db = db) {
  const errors: unknown[] = [];
  let waked = 0;
  const scheduler = new Scheduler({
    db: through,
    clock,
    jobs: scheduledJobs(limits, clock),
    wake: () => {
      waked += 1;
    },
    onError: (error) => errors.push(error),
  });
  const waiting = clock.waiting;
  scheduler.start();
  await expect.poll(() => clock.waiting, { interval: 1 }).toBe(waiting + 1);
  return { errors, waked: () => waked, stop: () => scheduler.stop() };
}
/** Advances to this time, the last minutes one by one; the database answers in its own time. */
async function until(time: string): Promise<void> {
  const waiting = clock.waiting;
  const end = Date.parse(time);
  while (clock.now() < end) {
    const far = end - clock.now() - 2 * MINUTE_MS;
    await clock.advance(far > 0 ? far : Math.min(MINUTE_MS - (clock.now() % MINUTE_MS), end - clock.now()));
    await expect.poll(() => clock.waiting, { interval: 1 }).toBe(waiting);
  }
}
const queued = async () =>
  (
    await db.selectFrom("tasks").select(["type", "username"]).where("username", "=", "scheduler").execute()
  ).map(({ type }) => type);
const over = () => db.updateTable("tasks").set({ state: "done" }).execute();

const orphan = (cid: string, days: number) =>
  db
    .insertInto("orphan_disks")
    .values({
      cid,
      size: 1024,
      cpi: "",
      cloud_properties: "{}",
      deployment_name: "shop",
      instance_name: `web/${WEB_0}`,
      orphaned_at: new Date(NOW - days * DAY_MS),
    })
    .execute();
const swappedOut = () =>
  db
    .insertInto("orphaned_vms")
    .values({
      cid: "vm-old",
      cpi: "",
      az: "z1",
      stemcell_api_version: 3,
      deployment_name: "shop",
      instance_name: `web/${WEB_0}`,
      orphaned_at: new Date(NOW),
    })
    .execute();

const SNAPSHOTS: Limits = {
  enable_snapshots: true,
  orphan_disk_schedule: "never",
  orphaned_vm_schedule: "never",
  orphan_network_schedule: "never",
};

describe("a scheduled turn", () => {
  it("is taken when its time has come, once", async () => {
    const one = await director(SNAPSHOTS);
    await until("2025-11-15T06:59:59Z");
    expect(await queued()).toEqual([]);
    await until("2025-11-15T07:00:00Z");
    expect(await queued()).toEqual(["snapshot_deployments"]);
    expect(one.waked()).toBe(1);
    await over();
    await until("2025-11-15T07:10:00Z");
    expect(await queued()).toHaveLength(1);
    expect(one.errors).toEqual([]);
    await one.stop();
  });

  it("is taken by one of the Directors that share a database", async () => {
    const all = [await director(SNAPSHOTS), await director(SNAPSHOTS), await director(SNAPSHOTS)];
    await until("2025-11-15T07:02:00Z");
    expect(await queued()).toEqual(["snapshot_deployments"]);
    expect(all.flatMap(({ errors }) => errors)).toEqual([]);
    for (const one of all) await one.stop();
    const taken = await Promise.all(
      [0, 1, 2, 3].map(() => takeTurn(db, "snapshot_deployments", "0 7 * * *", clock.now())),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it("is not taken again by a Director that is started again", async () => {
    const first = await director(SNAPSHOTS);
    await until("2025-11-15T07:00:00Z");
    await first.stop();
    await over();
    const second = await director(SNAPSHOTS);
    expect(await queued()).toHaveLength(1);
    await second.stop();
  });

  it("is made up for if no Director ran, once for all missed turns", async () => {
    await (await director(SNAPSHOTS)).stop();
    await clock.advance(3 * DAY_MS);
    const later = await director(SNAPSHOTS);
    expect(await queued()).toEqual(["snapshot_deployments"]);
    await over();
    await until("2025-11-18T07:00:00Z");
    expect(await queued()).toHaveLength(2);
    await later.stop();
  });

  it("is not made up for if it was before the first start, or of another schedule", async () => {
    const first = await director({ ...SNAPSHOTS, snapshot_schedule: "0 5 * * *" });
    await first.stop();
    const other = await director({ ...SNAPSHOTS, snapshot_schedule: "30 6 * * *" });
    expect(await queued()).toEqual([]);
    await other.stop();
  });

  it("is let go while the task of the one before is not over", async () => {
    const one = await director({ ...SNAPSHOTS, snapshot_schedule: "* * * * *" });
    await until("2025-11-15T07:03:00Z");
    expect(await queued()).toHaveLength(1);
    await over();
    await until("2025-11-15T07:04:00Z");
    expect(await queued()).toHaveLength(2);
    await one.stop();
  });

  it("is reported if it could not be written, and taken at the next minute", async () => {
    const one = await director(SNAPSHOTS);
    await db.schema.alterTable("scheduled_turns").renameTo("gone").execute();
    await until("2025-11-15T07:00:00Z");
    expect(one.errors).toHaveLength(1);
    await db.schema.alterTable("gone").renameTo("scheduled_turns").execute();
    await until("2025-11-15T07:01:00Z");
    expect(await queued()).toEqual(["snapshot_deployments"]);
    await one.stop();
  });

  it("is not taken any more once it is stopped", async () => {
    const one = await director(SNAPSHOTS);
    await one.stop();
    await clock.advance(DAY_MS);
    expect(clock.waiting).toBe(0);
    expect(await queued()).toEqual([]);
  });
});

describe("what is scheduled", () => {
  const asked = async (limits: Limits, time: string) => {
    const one = await director(limits);
    await until(time);
    await one.stop();
    return await queued();
  };

  it("is nothing while there is nothing to do", async () => {
    await orphan("disk-young", 4.9);
    await db.deleteFrom("persistent_disks").execute();
    expect(await asked({ enable_snapshots: true }, "2025-11-15T07:31:00Z")).toEqual([]);
  });

  it("are snapshots at seven, of a Director that takes any", async () => {
    expect(await asked({}, "2025-11-15T07:01:00Z")).toEqual([]);
  });

  it("are VMs that were replaced, every five minutes", async () => {
    await swappedOut();
    expect(await asked({}, "2025-11-15T07:00:00Z")).toEqual(["delete_orphaned_vms"]);
  });

  it("are disks whose time in the orphan list is over, every half hour, unless never", async () => {
    await orphan("disk-old", 5.1);
    expect(await asked({ orphan_disk_schedule: "never" }, "2025-11-15T07:31:00Z")).toEqual([]);
    expect(await asked({ orphan_disk_days: 6 }, "2025-11-15T08:01:00Z")).toEqual([]);
    expect(await asked({}, "2025-11-15T08:29:00Z")).toEqual([]);
    expect(await asked({}, "2025-11-15T08:30:00Z")).toEqual(["scheduled_orphaned_disk_cleanup"]);
  });

  it("are networks that were orphaned more than a day ago, exactly those, unless never", async () => {
    const network = (name: string, days: number | undefined) => ({
      ...{ name, ready: true, orphaned_at: days === undefined ? null : new Date(NOW - days * DAY_MS) },
    });
    await db
      .insertInto("networks")
      .values([network("used", undefined), network("young", 0.5), network("old", 1.1), network("older", 9)])
      .execute();
    expect(await asked({ orphan_network_schedule: "never" }, "2025-11-15T07:31:00Z")).toEqual([]);
    expect(await asked({}, "2025-11-15T08:30:00Z")).toEqual(["delete_orphan_networks"]);
    const { params_sealed: sealed } = await db
      .selectFrom("tasks")
      .select("params_sealed")
      .where("type", "=", "delete_orphan_networks")
      .executeTakeFirstOrThrow();
    expect(sealed).toEqual({ names: ["old", "older"] });
  });

  it("deletes nothing after a restore before an operator has looked at the clouds", async () => {
    await swappedOut();
    await orphan("disk-old", 5.1);
    await db
      .insertInto("restores")
      .values({ backup: "b", taken_at: new Date(NOW - DAY_MS) })
      .execute();
    await db
      .updateTable("deployments")
      .set({ restored: db.selectFrom("restores").select("id") })
      .execute();
    expect(await asked({}, "2025-11-15T07:30:00Z")).toEqual([]);
    await seenSinceRestore(db, "shop");
    expect(await asked({}, "2025-11-15T08:00:00Z")).toEqual(
      expect.arrayContaining(["delete_orphaned_vms", "scheduled_orphaned_disk_cleanup"]),
    );
  });
});
