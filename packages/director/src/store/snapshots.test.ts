import { changeInstance } from "@slipway/engine/flows/run-steps";
import type { Journal } from "@slipway/engine/journal/journal";
import type { Writes } from "@slipway/engine/journal/writes";
import type { SnapshotCid } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid } from "@slipway/testkit/vm-record";
import { beforeEach, describe, expect, it } from "vitest";
import { forgetDisk, giveDisk } from "./disks.ts";
import { listSnapshots, snapshotsOfDisk } from "./snapshots.ts";
import { listStrays } from "./strays.ts";
import { runningTask } from "./testing/running-task.ts";
import { newInstance, shop, uuid } from "./testing/samples.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let journal: Journal;
const CID = "snap-1" as SnapshotCid;
const snapshot = { cid: CID, cpi: "", disk: diskCid("disk-1"), clean: true, createdAt: 5_000, task: 7 };

const write = (change: (writes: Writes) => void, instance = uuid("uuid-0")) =>
  changeInstance(instance, { journal }, change);

beforeEach(async () => {
  base = await freshDatabase();
  ({ journal } = await runningTask(base.db));
  await shop(base.db, newInstance(0), newInstance(1));
  await write((writes) => {
    writes.addDisk(disk("disk-1"));
    writes.addSnapshot(snapshot);
  });
  return () => base.close();
});

const listed = async () => (await listSnapshots(base.db, "shop")).map(({ index, cid }) => `${index} ${cid}`);

describe("a snapshot", () => {
  it("is listed with the instance that has its disk, once however often it is written, until it is removed", async () => {
    expect(await listSnapshots(base.db, "shop")).toEqual([
      {
        ...{ cid: CID, cpi: "", diskCid: "disk-1", clean: true, createdAt: 5_000, taskId: 7 },
        ...{ group: "web", index: 0, uuid: "uuid-0" },
      },
    ]);
    await write((writes) => writes.addSnapshot(snapshot));
    expect(await listed()).toEqual(["0 snap-1"]);
    expect(await listSnapshots(base.db, "other")).toEqual([]);
    await write((writes) => writes.removeSnapshot(CID, "other CPI"));
    expect(await listed()).toEqual(["0 snap-1"]);
    await write((writes) => writes.removeSnapshot(CID, ""));
    expect(await listed()).toEqual([]);
  });

  it("follows its disk: to another cid, to the orphan list, to another instance", async () => {
    await write((writes) => writes.updateDisk(diskCid("disk-1"), { cid: diskCid("disk-2") }));
    expect(await listed()).toEqual(["0 snap-1"]);
    await write((writes) => writes.orphanDisk(diskCid("disk-2")));
    expect(await listed()).toEqual([]);
    expect(await snapshotsOfDisk(base.db, "disk-2")).toMatchObject([{ cid: CID }]);
    await giveDisk(base.db, { instance: "uuid-1", cid: diskCid("disk-2"), cpi: "", orphaned: true });
    expect(await listed()).toEqual(["1 snap-1"]);
    expect(await listStrays(base.db)).toEqual([]);
  });

  it.each([
    ["that is gone from the cloud", () => forgetDisk(base.db, diskCid("disk-1"))],
    [
      "that was deleted before it",
      async () => {
        await write((writes) => writes.orphanDisk(diskCid("disk-1")));
        await write((writes) => writes.removeOrphanDisk(diskCid("disk-1")));
      },
    ],
  ])("is a stray for a disk %s: it would be unknown otherwise", async (_, lose) => {
    await lose();
    expect(await base.db.selectFrom("snapshots").selectAll().execute()).toEqual([]);
    expect(await listStrays(base.db)).toMatchObject([
      { kind: "snapshot", requestId: "snap-1", about: "snapshot snap-1 of disk disk-1" },
    ]);
  });
});
