import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { isAlive, LocalCloud, loopDisksTrouble, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCloud } from "../local-cloud.ts";
import { detachDisk } from "./attach.ts";

const noSandbox = await sandboxTrouble();
const noLoop = noSandbox ?? (await loopDisksTrouble());
const userns = needs("userns", noSandbox === undefined, noSandbox);
const rootLoop = needs("root-loop", noLoop === undefined, noLoop);

const KINDS = [...(userns ? (["directory"] as const) : []), ...(rootLoop ? (["loop"] as const) : [])];

describe.each(sampleOf("kinds of disks", KINDS, 1))("a disk of the kind %s", (disks) => {
  describe("in sandboxes", () => {
    let cloud: LocalCloud;
    let one: string;
    let other: string;
    const at = (disk: string) => `/var/vcap/disks/${disk}`;

    beforeAll(async () => {
      cloud = await LocalCloud.open({ disks });
      [one, other] = [await cloud.newVm(), await cloud.newVm()];
    });
    afterAll(() => cloud.close());

    it("appears in the running sandbox it is attached to, in no other, and takes its data along", async () => {
      const disk = await cloud.newDisk();
      const hint = { path: at(disk), mounted: "true" };
      expect(await cloud.result("attach_disk", [one, disk])).toEqual(hint);
      // Once more is the same.
      expect(await cloud.result("attach_disk", [one, disk])).toEqual(hint);
      expect(await cloud.result("get_disks", [one])).toEqual([disk]);
      await cloud.insideMust(one, `echo data > ${at(disk)}/file`);
      expect((await cloud.inside(other, `ls ${at(disk)}`)).code).not.toBe(0);
      expect(await cloud.refusal("attach_disk", [other, disk])).toContain(`is attached to '${one}'`);
      expect(await cloud.refusal("delete_disk", [disk])).toContain("is attached to");
      expect(await cloud.refusal("resize_disk", [disk, 99])).toContain("is attached to");
      expect(await cloud.refusal("detach_disk", [other, disk])).toContain("DiskNotAttached");
      await cloud.result("detach_disk", [one, disk]);
      expect(await cloud.insideMust(one, "ls /var/vcap/disks")).toBe("");
      expect(await cloud.result("get_disks", [one])).toEqual([]);
      expect((await cloud.traces()).filter((trace) => !trace.startsWith("process"))).toEqual([]);
      await cloud.result("attach_disk", [other, disk]);
      expect(await cloud.insideMust(other, `cat ${at(disk)}/file`)).toBe("data\n");
      await cloud.result("detach_disk", [other, disk]);
      await cloud.result("delete_disk", [disk]);
      expect(await cloud.result("has_disk", [disk])).toBe(false);
      expect(await cloud.refusal("delete_disk", [disk])).toContain("DiskNotFound");
    });

    it("stays where it is as long as something in the sandbox has it mounted", async () => {
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [one, disk]);
      await cloud.insideMust(one, `mkdir -p /var/vcap/store && mount --bind ${at(disk)} /var/vcap/store`);
      const refusal = detachDisk(
        { ...(await openCloud(cloud.config)), clock: fakeClock({ hurry: true }) },
        one,
        disk,
      );
      await expect(refusal).rejects.toMatchObject({
        code: "LOC-007",
        message: expect.stringContaining("at /var/vcap/store"),
      });
      expect(await cloud.result("get_disks", [one])).toEqual([disk]);
      await cloud.insideMust(one, "umount /var/vcap/store");
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });

    it.each([
      ["a mount", (disk: string) => `mount --bind ${at(disk)} /var/vcap/store`, "umount /var/vcap/store"],
      [
        "an open file",
        (disk: string) => `sleep 900 > ${at(disk)}/held 2>&1 & echo $! > /var/vcap/held`,
        "kill $(cat /var/vcap/held)",
      ],
    ])("is taken out if %s in the sandbox goes away after the first look", async (_, hold, release) => {
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [one, disk]);
      await cloud.insideMust(one, `mkdir -p /var/vcap/store && { ${hold(disk)}; }`);
      let looks = 0;
      const clock = {
        ...systemClock,
        sleep: async (ms: number) => {
          if (looks++ === 0) await cloud.insideMust(one, release);
          await systemClock.sleep(ms);
        },
      };
      await detachDisk({ ...(await openCloud(cloud.config)), clock }, one, disk);
      expect(looks).toBeGreaterThan(0);
      expect(await cloud.result("get_disks", [one])).toEqual([]);
      await cloud.result("delete_disk", [disk]);
    });

    it("is there again after a reboot, and after an unexpected end", async () => {
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [one, disk]);
      await cloud.insideMust(one, `echo data > ${at(disk)}/file; sync ${at(disk)}/file`);
      await cloud.result("reboot_vm", [one]);
      expect(await cloud.insideMust(one, `cat ${at(disk)}/file`)).toBe("data\n");
      const pid = cloud.pid(one);
      process.kill(pid, "SIGKILL");
      await expect.poll(() => isAlive(pid)).toBe(false);
      // Without a process nothing has it mounted.
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("attach_disk", [one, disk]);
      await cloud.result("reboot_vm", [one]);
      expect(await cloud.insideMust(one, `cat ${at(disk)}/file`)).toBe("data\n");
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });

    it("outlives a sandbox that is deleted with it", async () => {
      const vm = await cloud.newVm();
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [vm, disk]);
      await cloud.insideMust(vm, `echo data > ${at(disk)}/file`);
      await cloud.result("delete_vm", [vm]);
      await cloud.result("attach_disk", [one, disk]);
      expect(await cloud.insideMust(one, `cat ${at(disk)}/file`)).toBe("data\n");
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });

    it("can be copied while a sandbox writes to it", async () => {
      const disk = await cloud.newDisk();
      await cloud.result("attach_disk", [one, disk]);
      await cloud.insideMust(one, `echo data > ${at(disk)}/file`);
      const snapshot = await cloud.result<string>("snapshot_disk", [disk, { deployment: "shop" }]);
      await cloud.insideMust(one, `echo more >> ${at(disk)}/file`);
      const copy = join(cloud.dir, "snapshots", snapshot);
      expect(JSON.parse(await readFile(join(copy, "metadata.json"), "utf8"))).toEqual({
        disk,
        deployment: "shop",
      });
      if (disks === "directory") expect(await readFile(join(copy, "content", "file"), "utf8")).toBe("data\n");
      else expect(statSync(join(copy, "image")).size).toBe(16 * 2 ** 20);
      for (const _ of [1, 2]) await cloud.result("delete_snapshot", [snapshot]);
      expect(readdirSync(join(cloud.dir, "snapshots"))).toEqual([]);
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });

    it("grows with its content, and does not shrink", async () => {
      const disk = await cloud.newDisk(16);
      await cloud.result("attach_disk", [one, disk]);
      await cloud.insideMust(one, `echo data > ${at(disk)}/file`);
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("resize_disk", [disk, 48]);
      await cloud.result("resize_disk", [disk, 48]);
      expect(await cloud.refusal("resize_disk", [disk, 16])).toContain("NotSupported");
      expect(await cloud.result("update_disk", [disk, 64, {}])).toBe(disk);
      await cloud.result("attach_disk", [one, disk]);
      expect(await cloud.insideMust(one, `cat ${at(disk)}/file`)).toBe("data\n");
      if (disks === "loop")
        expect(
          Number(await cloud.insideMust(one, `stat -f -c '%b * %S' ${at(disk)}`).then(product)),
        ).toBeGreaterThan(40 * 2 ** 20);
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });

    it.runIf(disks === "loop")("can be full", async () => {
      const disk = await cloud.newDisk(16);
      await cloud.result("attach_disk", [one, disk]);
      const { code, stderr } = await cloud.inside(one, `dd if=/dev/zero of=${at(disk)}/much bs=1M count=32`);
      expect(code).not.toBe(0);
      expect(stderr).toContain("No space left");
      await cloud.result("detach_disk", [one, disk]);
      await cloud.result("delete_disk", [disk]);
    });
  });
});

const product = (text: string): number => text.split("*").reduce((all, part) => all * Number(part), 1);

describe("disks", () => {
  let cloud: LocalCloud;
  beforeAll(async () => {
    cloud = await LocalCloud.open({ disks: "directory" });
  });
  afterAll(() => cloud.close());

  it("a disk of the kind directory can be looked at on the host, and is described there", async () => {
    const disk = await cloud.newDisk(64);
    const path = (...parts: string[]) => join(cloud.dir, "disks", disk, ...parts);
    await writeFile(path("content", "file"), "data");
    expect(await readFile(path("size"), "utf8")).toBe("64");
    await cloud.result("set_disk_metadata", [disk, { deployment: "shop" }]);
    expect(JSON.parse(await readFile(path("metadata.json"), "utf8"))).toEqual({ deployment: "shop" });
    await cloud.result("delete_disk", [disk]);
    expect(existsSync(path())).toBe(false);
  });

  it("a missing disk is reported as DiskNotFound", async () => {
    for (const [method, args] of [
      ["delete_disk", ["disk-none"]],
      ["resize_disk", ["disk-none", 1]],
      ["set_disk_metadata", ["disk-none", {}]],
      ["snapshot_disk", ["disk-none", {}]],
    ] as const)
      expect(await cloud.refusal(method, args), method).toContain("DiskNotFound");
  });

  it("a loop disk is refused on hosts that cannot have one", async () => {
    if (rootLoop) return;
    const wanting = await LocalCloud.open({ disks: "loop" });
    expect(await wanting.refusal("create_disk", [64, {}, null])).toContain("LOC-009");
    await wanting.close();
  });
});
