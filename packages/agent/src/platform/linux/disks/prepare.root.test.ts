import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { Crash, crashEverywhere } from "../../testing/crashes.ts";
import { diskAt, diskSettings, LoopLab, loopsLack, pathHint, quickExec } from "../../testing/loop-lab.ts";

sampleTests(1 / 4);

const WHOLE = { UseWholePersistentDisk: true };
const PARTITIONED = {};
const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("preparing a persistent disk", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
    return () => lab.close();
  });

  it.each([
    ["whole", WHOLE, ""],
    ["whole", WHOLE, "xfs"],
    ["by its first partition", PARTITIONED, ""],
    ["by its first partition", PARTITIONED, "xfs"],
  ])("makes an empty disk usable %s, and leaves it alone when asked again", async (_, config, type) => {
    const device = await lab.disk("a", type === "xfs" ? 320 : 64);
    const disks = lab.platform(config);
    expect(await disks.isInUse(device)).toBe(false);
    await disks.prepare(device, diskAt(device, type));
    const source = await disks.mountSource(device);
    const uuid = await lab.blkid(source, "UUID");
    expect(await lab.blkid(source, "TYPE")).toBe(type || "ext4");
    await disks.prepare(device, diskAt(device, type));
    expect(await lab.blkid(source, "UUID")).toBe(uuid);
    expect(await disks.isInUse(device)).toBe(true);
  });

  it("names the partition as upstream does, and says when a kernel had to be told of it", async () => {
    const device = await lab.disk("a", 64);
    await lab.platform(PARTITIONED, { exec: systemExec }).prepare(device, diskAt(device));
    const table = JSON.parse(await lab.run("sfdisk", "--json", device)) as {
      partitiontable: { label: string; partitions: { name: string }[] };
    };
    expect(table.partitiontable.label).toBe("gpt");
    expect(table.partitiontable.partitions.map((partition) => partition.name)).toEqual(["bosh-partition-0"]);
    // Loop devices without partition scanning are never read by the kernel itself, here or in CI.
    expect(lab.log.lines.join("\n")).toMatch(/made no device for partition 1 .* partx told it/);
  });

  it.each([
    ["an ext4 that proves itself by its checksum", [], () => undefined, []],
    ["an ext4 without checksums", ["-O", "^metadata_csum"], () => undefined, ["blkid"]],
    [
      "an ext4 with something before its superblock",
      [],
      (device: string) => lab.writeAt(device, 446, Buffer.from("boot")),
      ["blkid"],
    ],
    [
      // The volume's name, which the checksum covers.
      "an ext4 that was changed behind its checksum's back",
      [],
      (device: string) => lab.writeAt(device, 1024 + 0x78, Buffer.from("another")),
      ["blkid"],
    ],
  ])("asks blkid about a disk in doubt only: %s", async (_, options, change, asked) => {
    const device = await lab.disk("a", 64);
    await lab.run("mke2fs", "-q", "-F", "-t", "ext4", ...options, device);
    await change(device);
    const ran: string[] = [];
    const exec: Exec = (program, ...rest) => {
      ran.push(program);
      return systemExec(program, ...rest);
    };
    await lab.platform(WHOLE, { exec }).prepare(device, diskAt(device));
    expect(ran).toEqual(asked);
  });

  it("keeps a file system of another type than asked for, with its data", async () => {
    const device = await lab.disk("a", 64);
    await lab.run("mke2fs", "-q", "-F", "-t", "ext4", device);
    await lab.mark(device);
    await lab.platform(WHOLE).prepare(device, diskAt(device, "xfs"));
    expect(await lab.marked(device)).toBe("precious");
  });

  it("refuses a file system type it does not know, before touching anything", async () => {
    const device = await lab.disk("a", 64);
    const before = await lab.digest("a");
    const work = lab.platform(WHOLE).prepare(device, diskAt(device, "btrfs"));
    await expect(work).rejects.toThrow('The filesystem type "btrfs" is not supported');
    expect(await lab.digest("a")).toBe(before);
  });

  const random = (length: number) =>
    createHash("sha256").update("seed").digest().subarray(0, 16).toString("hex").repeat(length);
  it.each([
    ["whole", WHOLE],
    ["partitioned", PARTITIONED],
  ])("finishes after a crash at any command, used %s", async (_, config) => {
    const points = await crashEverywhere(quickExec, async (exec, point, run) => {
      const device = await lab.disk("a", 32);
      if (await run(() => lab.platform(config, { exec }).prepare(device, diskAt(device)))) {
        const disks = lab.platform(config);
        await disks.prepare(device, diskAt(device));
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
    await expect(killed.prepare(device, diskAt(device))).rejects.toThrow(Crash);
    const disks = lab.platform(config);
    await disks.prepare(device, diskAt(device));
    expect(await lab.blkid(await disks.mountSource(device), "TYPE")).toBe("ext4");
  });

  it("begins again when mkfs.xfs was killed after its superblock said it is in progress", async () => {
    const device = await lab.disk("a", 320);
    const half = async (path: string) => {
      await lab.run("mkfs.xfs", "-q", "-f", path);
      await lab.writeAt(path, 126, Uint8Array.of(1));
    };
    const killed = lab.platform(WHOLE, { exec: killedMkfs(half) });
    await expect(killed.prepare(device, diskAt(device, "xfs"))).rejects.toThrow(Crash);
    const disks = lab.platform(WHOLE);
    await disks.prepare(device, diskAt(device, "xfs"));
    await lab.mark(device);
  });

  it("takes the remains of a killed mkfs for foreign data on any other disk", async () => {
    const [one, two] = [await lab.disk("one", 64), await lab.disk("two", 64)];
    const killed = lab.platform(WHOLE, { exec: killedMkfs(garbage) });
    await expect(killed.prepare(one, diskAt(one))).rejects.toThrow(Crash);
    await garbage(two);
    const disks = lab.platform(WHOLE);
    await expect(disks.prepare(two, diskAt(two))).rejects.toMatchObject({ code: "AGD-004" });
    const otherCid = diskSettings("disk-2", pathHint(one));
    await expect(disks.prepare(one, otherCid)).rejects.toMatchObject({ code: "AGD-004" });
  });

  it("keeps a complete file system that somebody used, whatever a note of formatting says", async () => {
    const device = await lab.disk("a", 64);
    const killed = lab.platform(WHOLE, {
      exec: killedMkfs((path) => lab.run("mke2fs", "-q", "-F", "-t", "ext4", path)),
    });
    await expect(killed.prepare(device, diskAt(device))).rejects.toThrow(Crash);
    await lab.mark(device);
    await lab.platform(WHOLE).prepare(device, diskAt(device));
    expect(await lab.marked(device)).toBe("precious");
  });

  it("does not format what can only be read", async () => {
    const device = await lab.disk("a", 64, ["--read-only"]);
    const work = lab.platform(WHOLE).prepare(device, diskAt(device));
    await expect(work).rejects.toMatchObject({ code: "AGD-014" });
  });

  it("waits for a program that holds the device, such as the mkfs of a killed agent, and then names the trouble", async () => {
    const device = await lab.disk("a", 64);
    const other = await open(device, 0o200 | 0);
    try {
      const work = lab.platform(WHOLE).prepare(device, diskAt(device));
      await expect(work).rejects.toMatchObject({ code: "AGD-016" });
    } finally {
      await other.close();
    }
    await lab.platform(WHOLE).prepare(device, diskAt(device));
  });

  it("says that a device is gone when its disk was detached", async () => {
    const device = await lab.disk("a", 64);
    await lab.detach(device);
    const work = lab.platform(WHOLE).prepare(device, diskAt(device));
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
    const work = lab.platform(PARTITIONED, { exec: silent }).prepare(device, diskAt(device));
    await expect(work).rejects.toMatchObject({
      code: "AGD-007",
      next: expect.stringContaining("UseWholePersistentDisk"),
    });
    await lab.platform(WHOLE).prepare(device, diskAt(device));
    expect(await lab.blkid(device, "TYPE")).toBe("ext4");
  });

  it("tells the kernel of a partition again while that reads the table anew and has none", async () => {
    const device = await lab.disk("a", 64);
    let told = 0;
    const undone: Exec = (program, args, options) =>
      program === "partx" && ++told === 1
        ? Promise.resolve({ program, args, code: 0, stdout: "", stderr: "" })
        : systemExec(program, args, options);
    await lab.platform(PARTITIONED, { exec: undone }).prepare(device, diskAt(device));
    expect(await lab.blkid(`${device}p1`, "TYPE")).toBe("ext4");
    expect(told).toBeGreaterThan(1);
  });

  it("formats once when asked twice at the same time", async () => {
    const device = await lab.disk("a", 64);
    let formatted = 0;
    const counting: Exec = (program, args, options) => {
      if (program === "mke2fs") formatted++;
      return systemExec(program, args, options);
    };
    const disks = lab.platform(WHOLE, { exec: counting });
    await Promise.all([disks.prepare(device, diskAt(device)), disks.prepare(device, diskAt(device))]);
    expect(formatted).toBe(1);
  });
});
