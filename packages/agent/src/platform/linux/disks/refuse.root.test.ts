import { createHash } from "node:crypto";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { diskAt, LoopLab, loopsLack } from "../../testing/loop-lab.ts";

sampleTests(1 / 4);

const WHOLE = { UseWholePersistentDisk: true };
const PARTITIONED = {};
const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("a disk that is not ours to format", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
    return () => lab.close();
  });

  const random = (length: number) =>
    createHash("sha256").update("seed").digest().subarray(0, 16).toString("hex").repeat(length);
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

  describe.each(Object.entries({ whole: WHOLE, partitioned: PARTITIONED }))(
    "a disk to be used %s",
    (_, config) => {
      it.each(Object.keys(foreign))("that holds %s is refused and not changed by a byte", async (kind) => {
        const device = await lab.disk("a", 16);
        await foreign[kind]?.(device);
        const before = await lab.digest("a");
        await expect(lab.platform(config).prepare(device, diskAt(device))).rejects.toMatchObject({
          code: "AGD-004",
        });
        expect(await lab.digest("a")).toBe(before);
      });
    },
  );

  it("refuses a disk with two partitions, in upstream's words", async () => {
    const device = await lab.disk("a", 64);
    await table(device, 'label: gpt\nsize=10MiB, name="bosh-partition-0"\nname="bosh-partition-1"\n');
    const work = lab.platform(PARTITIONED).prepare(device, diskAt(device));
    await expect(work).rejects.toThrow(
      "Persistent disks with many partitions are not supported. Expected 1, got 2.",
    );
  });

  it("does not take a disk that was used whole for one with partitions, nor the other way round", async () => {
    const whole = await lab.disk("whole", 64);
    await lab.platform(WHOLE).prepare(whole, diskAt(whole));
    const refused = lab.platform(PARTITIONED).prepare(whole, diskAt(whole));
    await expect(refused).rejects.toThrow(/holds a ext4 file system on the whole device/);

    const partitioned = await lab.disk("partitioned", 64);
    const disks = lab.platform(PARTITIONED);
    await disks.prepare(partitioned, diskAt(partitioned));
    await lab.mark(await disks.mountSource(partitioned));
    const other = lab.platform(WHOLE).prepare(partitioned, diskAt(partitioned));
    await expect(other).rejects.toThrow(/gpt partition table with 1 partitions \(bosh-partition-0\)/);
    expect(await lab.marked(await disks.mountSource(partitioned))).toBe("precious");
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
