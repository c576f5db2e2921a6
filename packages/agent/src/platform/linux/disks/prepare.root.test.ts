import { createHash } from "node:crypto";
import { open, readFile, statfs, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../testing/needs.ts";
import { Crash, crashEverywhere } from "../../testing/crashes.ts";
import { canUseLoops, diskSettings, LoopLab, pathHint, quickExec } from "../../testing/loop-lab.ts";

const WHOLE = { UseWholePersistentDisk: true };
const PARTITIONED = {};
const ready = needs("root-loop", canUseLoops(), "root, loop devices, sfdisk and mkfs are needed");

describe.runIf(ready)("preparing a persistent disk", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
  });
  afterEach(() => lab.close());

  const settings = (device: string, fileSystem = "") => diskSettings("disk-1", pathHint(device), fileSystem);
  const content = async (name: string) => createHash("sha256").update(await readFile(lab.image(name))).digest("hex");
  const marker = async (device: string) =>
    lab.inside(device, (directory) => writeFile(join(directory, "data"), "precious"));
  const data = async (device: string) => lab.inside(device, (directory) => readFile(join(directory, "data"), "utf8"));

  it.each([
    ["whole", WHOLE, ""],
    ["whole", WHOLE, "xfs"],
    ["by its first partition", PARTITIONED, ""],
    ["by its first partition", PARTITIONED, "xfs"],
  ])("makes an empty disk usable %s, and leaves it alone when asked again", async (_, config, type) => {
    const device = await lab.disk("a", type === "xfs" ? 320 : 64);
    const disks = lab.platform(config);
    expect(await disks.isInUse(device)).toBe(false);
    await disks.prepare(device, settings(device, type));
    const source = await disks.mountSource(device);
    const uuid = await lab.blkid(source, "UUID");
    expect(await lab.blkid(source, "TYPE")).toBe(type || "ext4");
    await disks.prepare(device, settings(device, type));
    expect(await lab.blkid(source, "UUID")).toBe(uuid);
    expect(await disks.isInUse(device)).toBe(true);
  });

  it("names the partition as upstream does", async () => {
    const device = await lab.disk("a", 64);
    await lab.platform(PARTITIONED, { exec: systemExec }).prepare(device, settings(device));
    const table = JSON.parse(await lab.run("sfdisk", "--json", device)) as {
      partitiontable: { label: string; partitions: { name: string }[] };
    };
    expect(table.partitiontable.label).toBe("gpt");
    expect(table.partitiontable.partitions.map((partition) => partition.name)).toEqual(["bosh-partition-0"]);
  });

  it("keeps a file system of another type than asked for, with its data", async () => {
    const device = await lab.disk("a", 64);
    await lab.run("mke2fs", "-q", "-F", "-t", "ext4", device);
    await marker(device);
    await lab.platform(WHOLE).prepare(device, settings(device, "xfs"));
    expect(await data(device)).toBe("precious");
  });

  it("refuses a file system type it does not know, before touching anything", async () => {
    const device = await lab.disk("a", 64);
    const before = await content("a");
    const work = lab.platform(WHOLE).prepare(device, settings(device, "btrfs"));
    await expect(work).rejects.toThrow('The filesystem type "btrfs" is not supported');
    expect(await content("a")).toBe(before);
  });

  const random = (length: number) => createHash("sha256").update("seed").digest().subarray(0, 16).toString("hex").repeat(length);
  const foreign: Record<string, (device: string) => Promise<unknown>> = {
    vfat: (device) => lab.run("mkfs.vfat", device),
    "an LVM volume": (device) => lab.writeAt(device, 512, lvmLabel()),
    swap: (device) => lab.run("mkswap", device),
    "bytes of no known kind": (device) => lab.writeAt(device, 0, Buffer.from(random(100))),
    "data in the middle only": (device) => lab.writeAt(device, 6 * 1024 * 1024, Buffer.from(random(20_000))),
    "data at the very end": (device) => lab.writeAt(device, 16 * 1024 * 1024 - 512, Buffer.from(random(10))),
    "an MBR partition without a file system": (device) => table(device, "label: dos\nstart=1MiB, type=83\n"),
    "a GPT partition of another name": (device) => table(device, 'label: gpt\nstart=1MiB, name="root"\n'),
    "an empty GPT": (device) => table(device, "label: gpt\n"),
  };
  const table = (device: string, script: string) =>
    systemExec("sfdisk", ["--quiet", "--no-reread", "--no-tell-kernel", device], { input: script });

  describe.each(Object.entries({ whole: WHOLE, partitioned: PARTITIONED }))("a disk to be used %s", (_, config) => {
    it.each(Object.keys(foreign))("that holds %s is refused and not changed by a byte", async (kind) => {
      const device = await lab.disk("a", 16);
      await foreign[kind]?.(device);
      const before = await content("a");
      await expect(lab.platform(config).prepare(device, settings(device))).rejects.toMatchObject({ code: "AGD-004" });
      expect(await content("a")).toBe(before);
    });
  });

  it("refuses a disk with two partitions, in upstream's words", async () => {
    const device = await lab.disk("a", 64);
    await table(device, 'label: gpt\nsize=10MiB, name="bosh-partition-0"\nname="bosh-partition-1"\n');
    const work = lab.platform(PARTITIONED).prepare(device, settings(device));
    await expect(work).rejects.toThrow("Persistent disks with many partitions are not supported. Expected 1, got 2.");
  });

  it("does not take a disk that was used whole for one with partitions, nor the other way round", async () => {
    const whole = await lab.disk("whole", 64);
    await lab.platform(WHOLE).prepare(whole, settings(whole));
    const refused = lab.platform(PARTITIONED).prepare(whole, settings(whole));
    await expect(refused).rejects.toThrow(/holds a ext4 file system on the whole device/);

    const partitioned = await lab.disk("partitioned", 64);
    const disks = lab.platform(PARTITIONED);
    await disks.prepare(partitioned, settings(partitioned));
    await marker(await disks.mountSource(partitioned));
    const other = lab.platform(WHOLE).prepare(partitioned, settings(partitioned));
    await expect(other).rejects.toThrow(/gpt partition table with 1 partitions \(bosh-partition-0\)/);
    expect(await data(await disks.mountSource(partitioned))).toBe("precious");
  });

  it.each([
    ["whole", WHOLE],
    ["partitioned", PARTITIONED],
  ])("finishes after a crash at any command, used %s", async (_, config) => {
    const points = await crashEverywhere(quickExec, async (exec, point, run) => {
      const device = await lab.disk("a", 32);
      if (await run(() => lab.platform(config, { exec }).prepare(device, settings(device)))) {
        const disks = lab.platform(config);
        await disks.prepare(device, settings(device));
        expect(await lab.blkid(await disks.mountSource(device), "TYPE"), point).toBe("ext4");
      }
      await lab.detach(device);
    });
    expect(points).toBeGreaterThan(0);
  });

  /** mkfs is killed in the middle: something is written, but no superblock yet. */
  const killedMkfs =
    (write: (device: string) => Promise<unknown>): Exec =>
    async (program, args, options) => {
      if (program !== "mke2fs" && program !== "mkfs.xfs") return systemExec(program, args, options);
      await write(args.at(-1) ?? "");
      throw new Crash("in the middle of mkfs");
    };
  const garbage = (device: string) => lab.writeAt(device, 8192, Buffer.from(random(500)));

  it.each([
    ["whole", WHOLE],
    ["partitioned", PARTITIONED],
  ])("begins again when mkfs was killed half-way, used %s", async (_, config) => {
    const device = await lab.disk("a", 64);
    const killed = lab.platform(config, { exec: killedMkfs(garbage) });
    await expect(killed.prepare(device, settings(device))).rejects.toThrow(Crash);
    const disks = lab.platform(config);
    await disks.prepare(device, settings(device));
    expect(await lab.blkid(await disks.mountSource(device), "TYPE")).toBe("ext4");
  });

  it("begins again when mkfs.xfs was killed after its superblock said it is in progress", async () => {
    const device = await lab.disk("a", 320);
    const half = async (path: string) => {
      await lab.run("mkfs.xfs", "-q", "-f", path);
      await lab.writeAt(path, 126, Uint8Array.of(1));
    };
    const killed = lab.platform(WHOLE, { exec: killedMkfs(half) });
    await expect(killed.prepare(device, settings(device, "xfs"))).rejects.toThrow(Crash);
    const disks = lab.platform(WHOLE);
    await disks.prepare(device, settings(device, "xfs"));
    await marker(device);
  });

  it("takes the remains of a killed mkfs for foreign data on any other disk", async () => {
    const [one, two] = [await lab.disk("one", 64), await lab.disk("two", 64)];
    const killed = lab.platform(WHOLE, { exec: killedMkfs(garbage) });
    await expect(killed.prepare(one, settings(one))).rejects.toThrow(Crash);
    await garbage(two);
    const disks = lab.platform(WHOLE);
    await expect(disks.prepare(two, settings(two))).rejects.toMatchObject({ code: "AGD-004" });
    const otherCid = diskSettings("disk-2", pathHint(one));
    await expect(disks.prepare(one, otherCid)).rejects.toMatchObject({ code: "AGD-004" });
  });

  it("keeps a complete file system that somebody used, whatever a note of formatting says", async () => {
    const device = await lab.disk("a", 64);
    const killed = lab.platform(WHOLE, { exec: killedMkfs((path) => lab.run("mke2fs", "-q", "-F", "-t", "ext4", path)) });
    await expect(killed.prepare(device, settings(device))).rejects.toThrow(Crash);
    await marker(device);
    await lab.platform(WHOLE).prepare(device, settings(device));
    expect(await data(device)).toBe("precious");
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
  ])("grows %s %s when the disk has grown, once, and keeps the data", async (_, __, config, type, from, to) => {
    const device = await lab.disk("a", from);
    const disks = lab.platform(config);
    await disks.prepare(device, settings(device, type));
    const source = await disks.mountSource(device);
    await marker(source);
    await lab.resize(device, to);
    await disks.prepare(device, settings(device, type));
    expect(await size(source)).toBeGreaterThan(to * 0.8);
    expect(await data(source)).toBe("precious");
    const programs: string[] = [];
    const watched: Exec = (program, args, options) => {
      programs.push(program);
      return systemExec(program, args, options);
    };
    await lab.platform(config, { exec: watched }).prepare(device, settings(device, type));
    expect(programs.filter((program) => !["blkid", "sfdisk"].includes(program))).toEqual([]);
  });

  it("finishes growing after a crash at any command, and loses no data", async () => {
    const disks = lab.platform(PARTITIONED);
    const first = await lab.disk("first", 32);
    await disks.prepare(first, settings(first));
    await marker(await disks.mountSource(first));
    await lab.detach(first);
    const points = await crashEverywhere(quickExec, async (exec, point, run) => {
      await lab.run("cp", "--sparse=always", lab.image("first"), lab.image("a"));
      await truncate(lab.image("a"), 128 * 1024 * 1024);
      const device = await lab.attach("a");
      if (await run(() => lab.platform(PARTITIONED, { exec }).prepare(device, settings(device)))) {
        await disks.prepare(device, settings(device));
        expect(await size(await disks.mountSource(device)), point).toBeGreaterThan(90);
        expect(await data(await disks.mountSource(device)), point).toBe("precious");
      }
      await lab.detach(device);
    });
    expect(points).toBeGreaterThan(4);
  });

  it.each([
    ["whole", WHOLE, "AGD-015"],
    ["partitioned", PARTITIONED, "AGD-004"],
  ])("refuses a disk that became smaller, used %s; with its size back the data is there", async (_, config, code) => {
    const device = await lab.disk("a", 64);
    const disks = lab.platform(config);
    await disks.prepare(device, settings(device));
    const source = await disks.mountSource(device);
    await marker(source);
    // The end of the image would be lost for good; the data is near its beginning.
    const whole = await readFile(lab.image("a"));
    await lab.resize(device, 40);
    await expect(disks.prepare(device, settings(device))).rejects.toMatchObject({ code });
    await lab.resize(device, 64);
    await lab.writeAt(device, 40 * 1024 * 1024, whole.subarray(40 * 1024 * 1024));
    await disks.prepare(device, settings(device));
    expect(await data(source)).toBe("precious");
  });

  it("does not format what can only be read", async () => {
    const device = await lab.disk("a", 64, ["--read-only"]);
    const work = lab.platform(WHOLE).prepare(device, settings(device));
    await expect(work).rejects.toMatchObject({ code: "AGD-014" });
  });

  it("waits for a program that holds the device, such as the mkfs of a killed agent, and then names the trouble", async () => {
    const device = await lab.disk("a", 64);
    const other = await open(device, 0o200 | 0);
    try {
      const work = lab.platform(WHOLE).prepare(device, settings(device));
      await expect(work).rejects.toMatchObject({ code: "AGD-016" });
    } finally {
      await other.close();
    }
    await lab.platform(WHOLE).prepare(device, settings(device));
  });

  it("says that a device is gone when its disk was detached", async () => {
    const device = await lab.disk("a", 64);
    await lab.detach(device);
    const work = lab.platform(WHOLE).prepare(device, settings(device));
    await expect(work).rejects.toMatchObject({ code: "AGD-017" });
  });

  it("says so where the kernel makes no partition devices, and uses the disk whole once it is told to", async () => {
    const device = await lab.disk("a", 64);
    const stubborn: Exec = (program, args, options) =>
      program === "partx"
        ? Promise.resolve({ program, args, code: 1, stdout: "", stderr: "partx: Operation not permitted" })
        : systemExec(program, args, options);
    // Where the kernel does read tables, sfdisk is kept from telling it.
    const silent: Exec = (program, args, options) =>
      stubborn(program, program === "sfdisk" ? ["--no-tell-kernel", ...args] : args, options);
    const work = lab.platform(PARTITIONED, { exec: silent }).prepare(device, settings(device));
    await expect(work).rejects.toMatchObject({ code: "AGD-007", next: expect.stringContaining("UseWholePersistentDisk") });
    await lab.platform(WHOLE).prepare(device, settings(device));
    expect(await lab.blkid(device, "TYPE")).toBe("ext4");
  });

  it("formats once when asked twice at the same time", async () => {
    const device = await lab.disk("a", 64);
    let formatted = 0;
    const counting: Exec = (program, args, options) => {
      if (program === "mke2fs") formatted++;
      return systemExec(program, args, options);
    };
    const disks = lab.platform(WHOLE, { exec: counting });
    await Promise.all([disks.prepare(device, settings(device)), disks.prepare(device, settings(device))]);
    expect(formatted).toBe(1);
  });
});

/** The label of an LVM physical volume as blkid looks for it, checksum included. */
function lvmLabel(): Buffer {
  const label = Buffer.alloc(512);
  label.write("LABELONE", 0);
  label.writeBigUInt64LE(1n, 8);
  label.writeUInt32LE(32, 20);
  label.write("LVM2 001", 24);
  label.write("abcdefABCDEFabcdefABCDEFabcdef12", 32);
  let crc = 0xf597a6cf;
  for (const byte of label.subarray(20)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  label.writeUInt32LE(crc >>> 0, 16);
  return label;
}
