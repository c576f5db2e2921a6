import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, statfs, truncate } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { crashEverywhere } from "../../testing/crashes.ts";
import { diskAt, LoopLab, loopsLack, quickExec } from "../../testing/loop-lab.ts";

sampleTests(1 / 4);

const WHOLE = { UseWholePersistentDisk: true };
const PARTITIONED = {};
const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("a disk whose size has changed", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
    return () => lab.close();
  });

  const size = (device: string) =>
    lab.inside(device, async (directory) => {
      const found = await statfs(directory);
      return Math.round((found.blocks * found.bsize) / 1024 / 1024);
    });

  it.each([
    ["ext4", "whole", WHOLE, "", 64, 256],
    ["ext4", "in a partition", PARTITIONED, "", 64, 256],
    ["xfs", "whole", WHOLE, "xfs", 320, 640],
    ["xfs", "in a partition", PARTITIONED, "xfs", 320, 640],
  ])(
    "grows %s %s when the disk has grown, once, and keeps the data",
    async (_, __, config, type, from, to) => {
      const device = await lab.disk("a", from);
      const disks = lab.platform(config);
      await disks.prepare(device, diskAt(device, type));
      const source = await disks.mountSource(device);
      await lab.mark(source);
      await lab.resize(device, to);
      await disks.prepare(device, diskAt(device, type));
      expect(await size(source)).toBeGreaterThan(to * 0.8);
      expect(await lab.marked(source)).toBe("precious");
      const programs: string[] = [];
      const watched: Exec = (program, args, options) => {
        programs.push(program);
        return systemExec(program, args, options);
      };
      await lab.platform(config, { exec: watched }).prepare(device, diskAt(device, type));
      expect(programs.filter((program) => !["blkid", "sfdisk"].includes(program))).toEqual([]);
    },
  );

  it("waits for a mount namespace that has a copy of the mount, when the kernel does not grow it online", async () => {
    const device = await lab.disk("a", 64);
    await lab.platform(WHOLE).prepare(device, diskAt(device));
    await lab.mark(device);
    await lab.resize(device, 256);
    const checks: number[] = [];
    let other: ChildProcess | undefined;
    const exec: Exec = async (program, args, options) => {
      if (program === "resize2fs" && other === undefined) {
        other = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", "echo made; read _"], {
          stdio: ["pipe", "pipe", "inherit"],
        });
        await once(other.stdout as Readable, "data");
        return { program, args, code: 1, stdout: "", stderr: "Permission denied" };
      }
      const result = await systemExec(program, args, options);
      if (program === "e2fsck") {
        checks.push(result.code);
        other?.stdin?.end();
      }
      return result;
    };
    await lab.platform(WHOLE, { exec }).prepare(device, diskAt(device));
    expect([checks[0], checks.at(-1)]).toEqual([8, 0]);
    expect(await size(device)).toBeGreaterThan(256 * 0.8);
    expect(await lab.marked(device)).toBe("precious");
  });

  it("finishes growing after a crash at any command, and loses no data", async () => {
    const disks = lab.platform(PARTITIONED);
    const first = await lab.disk("first", 32);
    await disks.prepare(first, diskAt(first));
    await lab.mark(await disks.mountSource(first));
    await lab.detach(first);
    const points = await crashEverywhere(quickExec, async (exec, point, run) => {
      await lab.run("cp", "--sparse=always", lab.image("first"), lab.image("a"));
      await truncate(lab.image("a"), 128 * 1024 * 1024);
      const device = await lab.attach("a");
      if (await run(() => lab.platform(PARTITIONED, { exec }).prepare(device, diskAt(device)))) {
        await disks.prepare(device, diskAt(device));
        expect(await size(await disks.mountSource(device)), point).toBeGreaterThan(90);
        expect(await lab.marked(await disks.mountSource(device)), point).toBe("precious");
      }
      await lab.detach(device);
    });
    expect(points).toBeGreaterThan(4);
  });

  it.each([
    ["whole", WHOLE, "AGD-015"],
    ["partitioned", PARTITIONED, "AGD-004"],
  ])(
    "refuses a disk that became smaller, used %s; with its size back the data is there",
    async (_, config, code) => {
      const device = await lab.disk("a", 64);
      const disks = lab.platform(config);
      await disks.prepare(device, diskAt(device));
      const source = await disks.mountSource(device);
      await lab.mark(source);
      // The end of the image would be lost for good; the data is near its beginning.
      const whole = await readFile(lab.image("a"));
      await lab.resize(device, 40);
      await expect(disks.prepare(device, diskAt(device))).rejects.toMatchObject({ code });
      await lab.resize(device, 64);
      await lab.writeAt(device, 40 * 1024 * 1024, whole.subarray(40 * 1024 * 1024));
      await disks.prepare(device, diskAt(device));
      expect(await lab.marked(source)).toBe("precious");
    },
  );
});
