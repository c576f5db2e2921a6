import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
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
  const imageOf = (disk: string) => stat(imagePath(disk));
  const spaceOf = async (disk: string) => (await imageOf(disk)).blocks * 512;
  const newDisk = (mib: number, properties: object = {}) =>
    cloud.result<string>("create_disk", [mib, properties, null]);
  const at = (disk: string) => `/var/vcap/disks/${disk}`;
  const MIB = 1 << 20;

  /** What its loop device passes on to its file, in bytes at once. */
  async function discards(disk: string): Promise<number> {
    const { stdout } = await systemExec("losetup", ["--noheadings", "-O", "NAME", "-j", imagePath(disk)]);
    const file = `/sys/block/${basename(stdout.trim())}/queue/discard_max_bytes`;
    return Number(await readFile(file, "utf8"));
  }

  // First: of a loop device that another disk had before, it could not be told who said so.
  it("what a disk does not need stays its own, whether the VM runs or starts with it", async () => {
    const [running, started] = [await newDisk(16), await newDisk(16)];
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
    const disk = await newDisk(64);
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
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64 * MIB);
    await cloud.result("detach_disk", [vm, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("a disk for which there is no space is refused, a thin one is not, and nothing is left", async () => {
    const refusal = await cloud.refusal("create_disk", [1000, {}, null]);
    expect(refusal).toContain("Bosh::Clouds::NoDiskSpace");
    expect(refusal).toMatch(/of 1000 MiB: this host has \d{3} MiB for it.*provisioning: thin/);
    expect(await readdir(join(cloud.dir, "disks"))).toEqual([]);
    const thin = await newDisk(1000, { provisioning: "thin" });
    expect(await spaceOf(thin)).toBeLessThan(100 * MIB);
    const snapshot = await cloud.result<string>("snapshot_disk", [thin, {}]);
    await cloud.result("delete_snapshot", [snapshot]);
    await cloud.result("delete_disk", [thin]);
  });

  it("a disk grows with its space, or stays as it was", async () => {
    const disk = await newDisk(32);
    expect(await cloud.refusal("resize_disk", [disk, 2000])).toContain("NoDiskSpace");
    expect(await imageOf(disk)).toMatchObject({ size: 32 * MIB });
    await cloud.result("resize_disk", [disk, 64]);
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64 * MIB);
    await cloud.result("delete_disk", [disk]);
  });

  it("a thin disk gets its space when it is to be preallocated, if there is any", async () => {
    const disk = await newDisk(64, { provisioning: "thin" });
    const wanted = { provisioning: "preallocated" };
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("update_disk", [disk, 64, wanted])).toContain("NoDiskSpace");
    expect(await spaceOf(disk)).toBeLessThan(32 * MIB);
    await freed();
    await cloud.result("update_disk", [disk, 64, wanted]);
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64 * MIB);
    await cloud.result("delete_disk", [disk]);
  });

  it("a snapshot for which there is no space is refused, and leaves nothing", async () => {
    const disk = await newDisk(64);
    await cloud.result("attach_disk", [vm, disk]);
    await cloud.insideMust(
      vm,
      `cd ${at(disk)} && dd if=/dev/urandom of=file bs=1M count=20 conv=fsync && sync -f .`,
    );
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("snapshot_disk", [disk, {}])).toContain("NoDiskSpace");
    expect(await readdir(join(cloud.dir, "snapshots"))).toEqual([]);
    expect(await cloud.insideMust(vm, `echo on > ${at(disk)}/file && cat ${at(disk)}/file`)).toBe("on\n");
    await cloud.result("detach_disk", [vm, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("properties that make no sense are refused", async () => {
    expect(await cloud.refusal("create_disk", [8, { provisioning: "thick" }, null])).toContain(
      "provisioning must be preallocated or thin",
    );
  });
});
