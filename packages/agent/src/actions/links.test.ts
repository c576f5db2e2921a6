import { readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { addDynamicDisk } from "./add_dynamic_disk.ts";
import { addPersistentDisk } from "./add_persistent_disk.ts";
import { associateDisks } from "./associate_disks.ts";
import { removeDynamicDisk } from "./remove_dynamic_disk.ts";
import { updateSettings } from "./update_settings.ts";

let world: FakeWorld;
let call: ActionCall;
const cid = (name: string) => name as never;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

/** Not for the name of a file: these would be another place. */
const ESCAPES = ["../x", "a/b", ".", "..", "a\0b", ""];

describe("a dynamic disk", () => {
  const links = () => readdir(world.services.paths.dynamicDisks);

  test("is linked by its cid, neither formatted nor mounted, and again after it moved", async () => {
    world.disks.plug("vol-1");
    for (const _ of [1, 2])
      expect(await addDynamicDisk({ diskCid: cid("vol-1"), hint: "/dev/vol-1" as never }, call)).toEqual({});
    expect(await readlink(join(world.services.paths.dynamicDisks, "vol-1"))).toBe("/dev/vol-1");
    expect(await links()).toEqual(["vol-1"]);
    expect(world.disks.steps).toEqual([]);
  });

  test("is removed by its cid, twice if need be, and its device stays", async () => {
    world.disks.plug("vol-1");
    await addDynamicDisk({ diskCid: cid("vol-1"), hint: "/dev/vol-1" as never }, call);
    for (const _ of [1, 2]) expect(await removeDynamicDisk({ diskCid: cid("vol-1") }, call)).toEqual({});
    expect(await links()).toEqual([]);
    expect(world.disks.devices.has("/dev/vol-1")).toBe(true);
  });

  test.each(ESCAPES)("is never linked or removed under the name %j", async (name) => {
    await expect(addDynamicDisk({ diskCid: cid(name), hint: "/dev/x" as never }, call)).rejects.toThrow(
      "cannot be the name of a link",
    );
    await expect(removeDynamicDisk({ diskCid: cid(name) }, call)).rejects.toThrow(
      "cannot be the name of a link",
    );
  });
});

describe("disk associations", () => {
  const association = (name: string, disk = "vol-1") => ({ name, cid: cid(disk) });
  beforeEach(async () => {
    world.disks.plug("vol-1");
    await addPersistentDisk({ diskCid: cid("vol-1"), hint: "/dev/vol-1" as never }, call);
  });

  test("link disks by their names, by an old Director's message and by update_settings", async () => {
    const old = { disk_associations: [association("old")] };
    expect(await associateDisks({ associations: old as never }, call)).toBe("associated");
    const settings = { disk_associations: [association("new")] };
    expect(await updateSettings({ settings: settings as never }, call)).toBe("ok");
    for (const name of ["old", "new"])
      expect(await readlink(join(world.services.paths.diskAssociations, name))).toBe("/dev/vol-1");
  });

  test("that update_settings no longer names are gone, and their disks untouched", async () => {
    const say = (...names: string[]) =>
      updateSettings(
        { settings: { disk_associations: names.map((name) => association(name)) } as never },
        call,
      );
    await say("data", "wal");
    await say("wal");
    expect(await readdir(world.services.paths.diskAssociations)).toEqual(["wal"]);
    await say();
    expect(await readdir(world.services.paths.diskAssociations)).toEqual([]);
    expect(world.disks.steps).toEqual([]);
    expect(world.disks.devices.has("/dev/vol-1")).toBe(true);
  });

  test("of a disk nobody attached fail, and nothing is kept", async () => {
    const settings = { disk_associations: [association("data", "vol-9")], trusted_certs: "PEM" };
    await expect(updateSettings({ settings: settings as never }, call)).rejects.toThrow("could not be found");
    expect(world.services.settings.updates()).toEqual({});
  });

  test.each(ESCAPES)("are never named %j", async (name) => {
    const associations = { disk_associations: [association(name)] };
    await expect(associateDisks({ associations: associations as never }, call)).rejects.toThrow(
      "must be named like a file",
    );
  });
});
