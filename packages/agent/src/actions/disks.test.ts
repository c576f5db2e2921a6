import { rm } from "node:fs/promises";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Killed } from "../testing/fake-disks.ts";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { addPersistentDisk } from "./add_persistent_disk.ts";
import { listDisk } from "./list_disk.ts";
import { migrateDisk } from "./migrate_disk.ts";
import { mountDisk } from "./mount_disk.ts";
import { removePersistentDisk } from "./remove_persistent_disk.ts";
import { unmountDisk } from "./unmount_disk.ts";
import { updateSettings } from "./update_settings.ts";

let world: FakeWorld;
let call: ActionCall;
const cid = (name: string) => name as never;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const store = () => world.services.paths.store;
const target = () => world.services.paths.migrationTarget;

async function attach(name: string, files: Record<string, string> = {}) {
  world.disks.plug(name, files);
  await addPersistentDisk({ diskCid: cid(name), hint: { id: name } as never }, call);
}

describe("mount_disk", () => {
  test("mounts a disk on the store and remembers it for the next boot", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    expect(world.disks.filesAt(store())).toEqual({ a: "1" });
    expect(world.managed).toBe("old");
    expect(await listDisk({}, call)).toEqual(["old"]);
  });

  test("changes nothing a second time", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    const before = [...world.disks.steps];
    expect(await mountDisk({ diskCid: cid("old") }, call)).toEqual({});
    expect(world.disks.steps).toEqual(before);
  });

  test("takes a draft's hint along with the message", async () => {
    world.disks.plug("old");
    await mountDisk({ diskCid: cid("old"), hint: "/dev/old" }, call);
    expect(await listDisk({}, call)).toEqual(["old"]);
  });

  test("finds a disk that update_settings has named before, as in a draft", async () => {
    world.disks.plug("old");
    const disks = { system: "/dev/sda", persistent: { old: "/dev/old" } };
    const disk_associations = [{ name: "data", cid: "old" }];
    await updateSettings({ settings: { disks, disk_associations } }, call);
    await mountDisk({ diskCid: cid("old") }, call);
    expect(await listDisk({}, call)).toEqual(["old"]);
  });

  test("puts a second disk on the migration target, and a reboot still brings the first one back", async () => {
    await attach("old", { a: "1" });
    await attach("new");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
    expect(world.disks.filesAt(target())).toEqual({});
    expect(world.managed).toBe("old");
  });

  test("refuses an unknown disk", async () => {
    await expect(mountDisk({ diskCid: cid("x") }, call)).rejects.toThrow(
      "Persistent disk with volume id 'x' could not be found",
    );
  });

  test("refuses a disk that is mounted at an unexpected place", async () => {
    await attach("old", { a: "1" });
    await world.disks.mount("/dev/old", "/elsewhere", []);
    await expect(mountDisk({ diskCid: cid("old") }, call)).rejects.toThrow("/elsewhere");
  });

  test("fails if it cannot be recorded, and a repeat with room for it succeeds", async () => {
    await attach("old", { a: "1" });
    const { managedDisk } = world.services;
    const full = { ...managedDisk, save: () => Promise.reject(new Error("no space left on device")) };
    const services = { ...world.services, managedDisk: full };
    await expect(mountDisk({ diskCid: cid("old") }, { ...call, services })).rejects.toThrow("no space left");
    expect(await mountDisk({ diskCid: cid("old") }, call)).toEqual({});
    expect(world.managed).toBe("old");
    expect(world.disks.mountTable).toHaveLength(1);
  });

  test("mounts a disk once if two calls come at once", async () => {
    await attach("old", { a: "1" });
    // The task queue runs one at a time; here the second follows the first, as it does there.
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("old") }, call);
    expect(world.disks.mountTable).toHaveLength(1);
  });
});

describe("unmount_disk", () => {
  test("keeps the hint, so that a repeat succeeds and the disk can be mounted again without a new hint", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    expect((await unmountDisk({ diskCid: cid("old") }, call)).message).toMatch(/^Unmounted partition/);
    expect((await unmountDisk({ diskCid: cid("old") }, call)).message).toMatch(/is not mounted$/);
    await mountDisk({ diskCid: cid("old") }, call);
    expect(world.disks.filesAt(store())).toEqual({ a: "1" });
  });

  test("leaves it to remove_persistent_disk to forget the disk", async () => {
    await attach("old");
    await mountDisk({ diskCid: cid("old") }, call);
    await unmountDisk({ diskCid: cid("old") }, call);
    await removePersistentDisk({ diskCid: cid("old") }, call);
    await expect(mountDisk({ diskCid: cid("old") }, call)).rejects.toThrow("could not be found");
  });
});

describe("migrate_disk", () => {
  const files = { a: "1", b: "2", c: "3" };

  async function ready() {
    await attach("old", files);
    await attach("new");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
  }

  test("puts a copy in the store's place and lets go of the old disk", async () => {
    await ready();
    expect(await migrateDisk({}, call)).toEqual({});
    expect(world.disks.filesAt(store())).toEqual(files);
    expect(world.disks.mountTable).toEqual([{ source: "/dev/new", target: store(), readOnly: false }]);
    expect(world.managed).toBe("new");
    expect(Object.fromEntries(world.disks.devices.get("/dev/old")?.files ?? [])).toEqual(files);
  });

  test("needs a disk on the migration target", async () => {
    await attach("old", files);
    await mountDisk({ diskCid: cid("old") }, call);
    await expect(migrateDisk({}, call)).rejects.toThrow("migrating needs");
  });

  test("finishes in a repeat after a kill at any step, and nothing is lost", async () => {
    await ready();
    const from = world.disks.steps.length;
    await migrateDisk({}, call);
    const steps = world.disks.steps.length - from;
    expect(steps).toBeGreaterThan(5);
    for (let at = 1; at <= steps; at++) {
      await rm(world.services.paths.base, { recursive: true, force: true });
      world = await fakeWorld();
      call = { ...call, services: world.services };
      await ready();
      world.disks.killAfter = world.disks.steps.length + at;
      await migrateDisk({}, call).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
      world.disks.killAfter = Number.POSITIVE_INFINITY;
      await migrateDisk({ oldCid: "old", newCid: "new" }, call);
      expect(world.disks.filesAt(store()), `killed after step ${at}`).toEqual(files);
      expect(world.managed).toBe("new");
      expect(Object.fromEntries(world.disks.devices.get("/dev/old")?.files ?? [])).toEqual(files);
    }
  });
});

describe("migrate_disk with disks that are not where it expects them", () => {
  test("turns no finished change back when the old disk is on the target", async () => {
    await attach("old", { a: "1" });
    await attach("new");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
    await migrateDisk({ oldCid: "old", newCid: "new" }, call);
    world.disks.devices.get("/dev/new")?.files.set("a", "2");
    await mountDisk({ diskCid: cid("old") }, call);
    expect(await migrateDisk({ oldCid: "old", newCid: "new" }, call)).toEqual({});
    expect(world.disks.mountTable).toEqual([{ source: "/dev/new", target: store(), readOnly: false }]);
    expect(world.disks.filesAt(store())).toEqual({ a: "2" });
    expect(Object.fromEntries(world.disks.devices.get("/dev/old")?.files ?? [])).toEqual({ a: "1" });
  });

  test("copies to no other disk than the one it names, and says so", async () => {
    await attach("old", { a: "1" });
    await attach("other");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("other") }, call);
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
    expect(world.managed).toBe("old");
    expect(Object.fromEntries(world.disks.devices.get("/dev/other")?.files ?? [])).toEqual({});
  });

  test("is no success when nothing is mounted and the old disk belongs on the store, which it gets back", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    world.disks.reboot();
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
    expect(world.disks.filesAt(store())).toEqual({ a: "1" });
  });
});

describe("migrate_disk after a reboot", () => {
  test("is refused without a target before the comparison: only the old disk has the data", async () => {
    await attach("old", { a: "1" });
    await attach("new");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
    world.disks.reboot();
    await mountDisk({ diskCid: cid("old") }, call);
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
  });
});

describe("migrate_disk in a VM that was recreated when the new disk was attached", () => {
  test("is refused when only the new disk is mounted: nothing was copied to it", async () => {
    await attach("old", { a: "1" });
    await attach("new");
    await mountDisk({ diskCid: cid("new") }, call);
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
    await unmountDisk({ diskCid: cid("new") }, call);
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
    expect(Object.fromEntries(world.disks.devices.get("/dev/new")?.files ?? [])).toEqual({});
  });

  test("is refused for a disk that was filled once, was removed, and came back", async () => {
    await attach("old", { a: "1" });
    await attach("new");
    await mountDisk({ diskCid: cid("old") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
    await migrateDisk({ oldCid: "old", newCid: "new" }, call);
    await unmountDisk({ diskCid: cid("new") }, call);
    await mountDisk({ diskCid: cid("new") }, call);
    await expect(migrateDisk({ oldCid: "old", newCid: "new" }, call)).rejects.toThrow("migrating needs");
  });
});

describe("unmount_disk and remove_persistent_disk", () => {
  test("says what it did, and the second time that there was nothing to do", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    expect((await unmountDisk({ diskCid: cid("old") }, call)).message).toMatch(/^Unmounted partition of/);
    expect((await unmountDisk({ diskCid: cid("old") }, call)).message).toMatch(
      /^Partition of .* is not mounted/,
    );
    expect(await listDisk({}, call)).toEqual([]);
  });

  test("removing forgets the disk also for the next boot, and twice is fine", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    await unmountDisk({ diskCid: cid("old") }, call);
    await removePersistentDisk({ diskCid: cid("old") }, call);
    await removePersistentDisk({ diskCid: cid("old") }, call);
    expect(world.managed).toBeUndefined();
    await expect(unmountDisk({ diskCid: cid("old") }, call)).rejects.toThrow("could not be found");
  });
});

describe("errors that an operator reads when the time is up", () => {
  /** Runs work while nothing changes for `ms` and returns its error message, or "done". */
  async function after(ms: number, work: (call: ActionCall) => Promise<unknown>): Promise<string> {
    const clock = fakeClock();
    const told = work({ ...call, services: { ...world.services, clock } }).then(
      () => "done",
      (error: Error) => error.message,
    );
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(ms);
    return await told;
  }

  test("list what was tried for a device that never comes", async () => {
    const told = await after(60_000, (own) => mountDisk({ diskCid: cid("gone"), hint: "/dev/gone" }, own));
    expect(told).toBe("no device for disk gone; tried: /dev/gone");
  });

  test("name the holder of a busy disk, which stays mounted", async () => {
    await attach("old", { a: "1" });
    await mountDisk({ diskCid: cid("old") }, call);
    world.disks.holders.set(store(), "process 7 (postgres)");
    const told = await after(600_000, (own) => unmountDisk({ diskCid: cid("old") }, own));
    expect(told).toBe(`${store()} is in use; held by: process 7 (postgres)`);
    expect(await listDisk({}, call)).toEqual(["old"]);
  });
});
