import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { type FullHost, testDiskSpace } from "@slipway/testkit/disk-space";
import { isAlive, LocalCloud, loopDisksTrouble, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { SmallDisk } from "@slipway/testkit/small-disk";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const trouble = (await sandboxTrouble()) ?? (await loopDisksTrouble());
const rootLoop = needs("root-loop", trouble === undefined, trouble);

describe.runIf(rootLoop)("on a host whose file system can be full", () => {
  let small: SmallDisk;
  let cloud: LocalCloud;
  let vm: string;

  beforeAll(async () => {
    small = await SmallDisk.open(400);
    cloud = await LocalCloud.open({ disks: "loop", below: small.dir });
    vm = await cloud.newVm();
  });
  const freed = () => small.free(basename(cloud.dir));
  afterEach(freed);
  afterAll(async () => {
    await cloud.close();
    await small.close();
  });

  const imagePath = (disk: string) => join(cloud.dir, "disks", disk, "image");
  const at = (disk: string) => `/var/vcap/disks/${disk}`;

  /** Returns how many bytes the disk's loop device discards in its file at once. */
  async function discards(disk: string): Promise<number> {
    const { stdout } = await systemExec("losetup", ["--noheadings", "-O", "NAME", "-j", imagePath(disk)]);
    const file = `/sys/block/${basename(stdout.trim())}/queue/discard_max_bytes`;
    return Number(await readFile(file, "utf8"));
  }

  // Runs first: on a loop device that another disk had before, the limit could have been set for that disk.
  it("what a disk does not need stays its own, whether the VM runs or starts with it", async () => {
    const [running, started] = [await cloud.newDisk(16), await cloud.newDisk(16)];
    await cloud.result("attach_disk", [vm, running]);
    expect(await discards(running)).toBe(0);
    const other = await cloud.newVm();
    process.kill(cloud.pid(other), "SIGKILL");
    await expect.poll(() => isAlive(cloud.pid(other))).toBe(false);
    await cloud.result("attach_disk", [other, started]);
    await cloud.result("reboot_vm", [other]);
    expect(await discards(started)).toBe(0);
    await cloud.result("delete_vm", [other]);
    await cloud.result("detach_disk", [vm, running]);
    for (const disk of [running, started]) await cloud.result("delete_disk", [disk]);
  });

  it("the disk of a running VM stays writable while nothing is free, after a reboot too", async () => {
    const disk = await cloud.newDisk(64);
    await cloud.result("attach_disk", [vm, disk]);
    const write = (name: string) =>
      `cd ${at(disk)} && dd if=/dev/urandom of=${name} bs=1M count=20 conv=fsync && mkdir -p d/${name} && sync -f . && echo yes`;
    for (const name of ["one", "two"]) {
      await small.fill("all");
      expect(await cloud.insideMust(vm, write(name))).toBe("yes\n");
      await freed();
      await cloud.result("reboot_vm", [vm]);
    }
    expect(await cloud.insideMust(vm, `ls ${at(disk)}`)).toContain("one\ntwo\n");
    expect((await host.stat(disk)).space).toBeGreaterThanOrEqual(64 << 20);
    await cloud.result("detach_disk", [vm, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  const host: FullHost = {
    get cloud() {
      return cloud;
    },
    get small() {
      return small;
    },
    freed,
    stat: async (disk) => {
      const { size, blocks } = await stat(imagePath(disk));
      return { size, space: blocks * 512 };
    },
    all: (kind) => readdir(join(cloud.dir, kind)),
    mounted: async (disk) => {
      await cloud.result("attach_disk", [vm, disk]);
      return at(disk);
    },
    unmounted: async (disk) => {
      await cloud.result("detach_disk", [vm, disk]);
    },
    inside: (script) => cloud.insideMust(vm, script),
  };
  const says = /of 1000 MiB: this host has \d{3} MiB for it.*provisioning: thin/;
  testDiskSpace(() => host, { says, empty: 100 });
});
