import { describe, expect, it } from "vitest";
import { DEPLOY, problemsStage } from "./testing/problems-stage.ts";

const { stage, run, scan, apply, applied, db, whole, addInactive } = problemsStage();

describe("a disk", () => {
  it.each([
    ["reattach_disk", false],
    ["reattach_disk", true],
    ["reattach_disk_and_reboot", false],
    ["reattach_disk_and_reboot", true],
  ] as const)("is mounted again by %s (detached too: %s)", async (name, detached) => {
    const { vm, disk } = await db();
    const real = stage.bench.world.vms.get(vm.cid);
    if (real) real.agent.store = null;
    const there = stage.bench.world.disks.get(disk.cid);
    if (detached && there) there.attachedTo = null;
    expect(await scan()).toEqual(["mount_info_mismatch db/0"]);
    await applied(name);
    expect(await whole()).toEqual([]);
    expect(await scan()).toEqual([]);
  });

  it("can be forgotten if it is gone from the cloud, and the next deploy makes another", async () => {
    const { vm, disk } = await db();
    stage.bench.world.disks.delete(disk.cid);
    const real = stage.bench.world.vms.get(vm.cid);
    if (real) real.agent.store = null;
    expect(await scan()).toEqual(["missing_disk db/0"]);
    await applied(null);
    expect((await db()).disk.cid).toBe(disk.cid);
    await scan();
    await applied("delete_disk_reference");
    const { instances, orphanDisks } = await stage.bench.remembered();
    expect(instances.flatMap(({ disks }) => disks)).toEqual([]);
    expect(orphanDisks).toEqual([]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect((await db()).disk.cid).not.toBe(disk.cid);
    expect(await stage.bench.broken()).toEqual([]);
  });

  it("stays if it is back when it is to be forgotten", async () => {
    const { disk } = await db();
    const there = stage.bench.world.disks.get(disk.cid);
    if (there === undefined) throw new Error("bug: no disk");
    stage.bench.world.disks.delete(disk.cid);
    await scan();
    stage.bench.world.disks.set(disk.cid, there);
    await applied("delete_disk_reference");
    expect((await db()).disk.cid).toBe(disk.cid);
    expect(await whole()).toEqual([]);
  });

  it("is orphaned and never deleted if it is inactive", async () => {
    await addInactive("disk-left");
    expect(await scan()).toEqual(["inactive_disk db/0"]);
    await applied("delete_disk");
    expect((await stage.bench.remembered()).orphanDisks).toEqual(["disk-left"]);
    expect(stage.bench.world.disks.has("disk-left")).toBe(true);
    expect(stage.bench.world.deleted).toEqual([]);
    expect(await whole()).toEqual([]);
  });

  it("cannot replace the active disk if it is inactive, but can fill an empty place", async () => {
    await addInactive("disk-left");
    await scan();
    const { state, message } = await apply("activate_disk");
    expect({ state, message }).toMatchObject({
      state: "error",
      message: expect.stringMatching(/active disk.*Next: Choose delete_disk/),
    });
    const { disk } = await db();
    await stage.bench.db.deleteFrom("persistent_disks").where("cid", "=", disk.cid).execute();
    await applied("activate_disk");
    expect((await db()).disk.cid).toBe("disk-left");
  });
});
