import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { DockerCloud, DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskHelperName } from "./disks/disk-helper.ts";
import { execIn } from "./engine/exec.ts";

const trouble = process.getuid?.() === 0 ? await engineTrouble() : "only root can make devices";

/** Loop devices stand for the devices that a host has beside its own disk. */
describe.runIf(needs("docker", trouble === undefined, trouble))("a disk on a device of the pool", () => {
  let cloud: DockerCloud;
  let stemcell: string;
  let one: DockerVm;
  let other: DockerVm;
  const nodes: string[] = [];

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell();
    [one, other] = await Promise.all([cloud.newVm(stemcell), cloud.newVm(stemcell)]);
    await Promise.all([one.pong(), other.pong()]);
    await cloud.result("delete_disk", [await cloud.newDisk(8)]);
  });
  afterAll(async () => {
    for (const vm of [one, other]) await cloud.ask("delete_vm", [vm.cid]);
    // By their files: numbers that were given up may be in other use by now.
    await inDiskHelper(
      "for file in /slipway/slipway-pool-*; do losetup --noheadings --output NAME --associated $file; done | xargs -r losetup --detach",
    );
    for (const node of nodes) await systemExec("rm", ["-f", node]);
    await cloud.close();
  });

  const inDiskHelper = async (script: string): Promise<string> => {
    const opened = await cloud.cloud();
    const ran = await execIn(opened.engine, diskHelperName(opened), ["sh", "-c", script], "a test");
    if (ran.code !== 0) throw new Error(`${script}: ${ran.code} ${ran.stderr}`);
    return ran.stdout.trim();
  };
  /** A device of so many MiB, with a name that stays. */
  const device = async (mib: number): Promise<string> => {
    const name = `slipway-pool-${systemRandom.hex(4)}`;
    const loop = await inDiskHelper(
      `truncate -s ${mib}M /slipway/${name} && losetup --find --show /slipway/${name}`,
    );
    // An earlier user may have write-protected it.
    await inDiskHelper(`blockdev --setrw ${loop}`);
    await systemExec("ln", ["-s", loop, `/dev/${name}`]);
    nodes.push(`/dev/${name}`);
    return `/dev/${name}`;
  };
  const loopOf = async (at: string) => (await systemExec("readlink", [at])).stdout.trim();
  const pool = (...devices: string[]) => Object.assign(cloud.config, { devices });
  const newDisk = (size: number) => cloud.result<string>("create_disk", [size, { type: "device" }, null]);
  const deviceOf = (disk: string) => inDiskHelper(`cat /slipway/disks/${disk}/device`);
  const content = (path: string) => inDiskHelper(`md5sum <${path}`);
  const write = (vm: DockerVm) =>
    vm.must(
      "cd /var/vcap/store && dd if=/dev/urandom of=data bs=64k count=100 2>/dev/null && sync && md5sum data",
    );
  const sum = (vm: DockerVm) => vm.must("cd /var/vcap/store && md5sum data");

  it("is the smallest that is large enough; moves between containers; is blank and free when it is deleted", async () => {
    const [small, middle, large] = [await device(16), await device(64), await device(96)];
    const blank = await content(middle);
    pool(large, middle, small);
    const disk = await newDisk(40);
    expect(await deviceOf(disk)).toBe(middle);
    await cloud.mounted(one, disk);
    const written = await write(one);
    expect(await one.must(`blockdev --getsize64 /dev/slipway-${disk}`)).toBe(String(63 * 2 ** 20));
    expect(await cloud.loops()).toEqual([disk]);
    expect(await cloud.refusal("delete_disk", [disk])).toMatch(/DOC-015/);
    expect(await cloud.refusal("detach_disk", [one.cid, disk])).toMatch(/DOC-015.*mounted/);
    await cloud.unmounted(one, disk);
    expect(await cloud.loops()).toEqual([]);
    await cloud.mounted(other, disk);
    expect(await sum(other)).toBe(written);
    await cloud.unmounted(other, disk);
    // Of the others, one is too small and one is next.
    const next = await newDisk(40);
    expect(await deviceOf(next)).toBe(large);
    expect(await cloud.refusal("create_disk", [40, { type: "device" }, null])).toMatch(
      new RegExp(`DOC-018.*${middle} is ${disk};.*${large} is ${next};.*${small} has only 15 MiB`),
    );
    await cloud.result("delete_disk", [disk]);
    await expect.poll(() => content(middle)).toBe(blank);
    await cloud.result("delete_disk", [next]);
    const again = await newDisk(40);
    expect(await deviceOf(again)).toBe(middle);
    await cloud.mounted(one, again);
    expect(await one.must("ls /var/vcap/store")).not.toContain("data");
    await cloud.unmounted(one, again);
    await cloud.result("delete_disk", [again]);
    pool();
    expect(await cloud.refusal("create_disk", [8, { type: "device" }, null])).toMatch(/DOC-018.*names none/);
    expect(await cloud.refusal("create_disk", [8, { type: "drum" }, null])).toMatch(
      /DOC-009.*file or device/,
    );
  });

  it.each([
    ["a file system", (at: string) => `mke2fs -q -t ext4 ${at}`, /has content: ext4/],
    [
      "a partition table",
      (at: string) =>
        `printf '\\125\\252' | dd of=${at} bs=1 seek=510 conv=notrunc && printf '\\203' | dd of=${at} bs=1 seek=450 conv=notrunc && printf '\\001' | dd of=${at} bs=1 seek=458 conv=notrunc`,
      /has content/,
    ],
    [
      "somebody's bytes in the middle",
      (at: string) => `dd if=/dev/urandom of=${at} bs=1M seek=20 count=4 conv=notrunc`,
      /has content of no known kind/,
    ],
    [
      "a disk of another volume",
      (at: string) => `printf 'slipway disk-foreign' | dd of=${at} bs=512 conv=sync,notrunc`,
      /says that it is disk-foreign of another volume/,
    ],
    ["a loop device that is read-only", (at: string) => `blockdev --setro ${at}`, /is read-only/],
  ])("is never made where there is %s, and nothing of it changes", async (_, fill, said) => {
    const at = await device(48);
    pool(at);
    await inDiskHelper(`(${fill(at)}) >/dev/null 2>&1; sync`);
    const before = await content(at);
    expect(await cloud.refusal("create_disk", [8, { type: "device" }, null])).toMatch(said);
    expect(await content(at)).toBe(before);
    expect(await inDiskHelper("ls -A /slipway/disks")).toBe("");
    // Else the next one to get this loop device could only read it.
    await inDiskHelper(`blockdev --setrw ${at}`);
  });

  it("is never made on what the host uses, or what is no device", async () => {
    const used = await device(48);
    await inDiskHelper(`mke2fs -q ${used}`);
    pool(used, "/dev/slipway-pool-none", "/dev/null");
    await one.must(`mknod /dev/used b 7 ${(await loopOf(used)).slice("/dev/loop".length)} &&
      mkdir -p /mnt/used && mount /dev/used /mnt/used`);
    expect(await cloud.refusal("create_disk", [8, { type: "device" }, null])).toMatch(
      /DOC-018.* (is mounted on the host|has content).*pool-none is no block device.*null is no block device/,
    );
    await one.must("umount /mnt/used && rm /dev/used");
    const claimed = await device(48);
    const handle = await open(claimed, constants.O_RDONLY | constants.O_EXCL);
    pool(claimed);
    expect(await cloud.refusal("create_disk", [8, { type: "device" }, null])).toMatch(/DOC-018.* is in use/);
    await handle.close();
    await cloud.result("delete_disk", [await newDisk(8)]);
  });

  it("leaves its device free when the call that made or deleted it was killed halfway", async () => {
    const [making, deleting] = [await device(32), await device(40)];
    pool(making, deleting);
    const blank = await content(deleting);
    const left = (name: string, kind: string, at: string) =>
      inDiskHelper(`dir=/slipway/disks/.${name}.${kind} && mkdir $dir && printf %s ${at} >$dir/device &&
        mknod $dir/${name}.img b $(stat -L -c '0x%t 0x%T' ${at}) &&
        printf 'slipway ${name}' | dd of=${at} bs=512 conv=sync,notrunc`);
    await left("disk-halfmade", "new", making);
    await left("disk-halfgone", "deleted", deleting);
    await inDiskHelper(`dd if=/dev/urandom of=${deleting} bs=1M seek=1 count=39 conv=notrunc,fsync`);
    expect(await cloud.refusal("create_disk", [36, { type: "device" }, null])).toMatch(/is being wiped/);
    const { engine, ...rest } = await cloud.cloud();
    const name = diskHelperName({ engine, ...rest });
    await engine.run({ doing: "killing", method: "POST", path: `/containers/${name}/kill` });
    expect(await cloud.result("has_disk", ["disk-halfgone"])).toBe(false);
    await expect.poll(() => content(deleting)).toBe(blank);
    for (const disk of [await newDisk(16), await newDisk(16)]) await cloud.result("delete_disk", [disk]);
    expect(await inDiskHelper("ls -A /slipway/disks")).toBe("");
  });

  it("grows up to its device, and not beyond; a larger device takes its file system with it", async () => {
    const at = await device(64);
    const loop = await loopOf(at);
    pool(at);
    const disk = await newDisk(32);
    await cloud.mounted(one, disk);
    const written = await write(one);
    await cloud.result("resize_disk", [disk, 63]);
    expect(await cloud.refusal("resize_disk", [disk, 62])).toMatch(/NotSupported.*has 63 MiB/);
    expect(await cloud.refusal("resize_disk", [disk, 64])).toMatch(/NotSupported.*device of 63 MiB/);
    expect(await cloud.refusal("update_disk", [disk, 63, { type: "file" }])).toContain("NotSupported");
    await inDiskHelper(`truncate -s 129M /slipway/${at.slice(5)} && losetup --set-capacity ${loop}`);
    await cloud.result("resize_disk", [disk, 128]);
    expect(await one.must(`blockdev --getsize64 /dev/slipway-${disk}`)).toBe(String(2 ** 27));
    await cloud.unmounted(one, disk);
    await cloud.mounted(one, disk);
    expect(Number(await one.must("df -m /var/vcap/store | awk 'NR == 2 { print $2 }'"))).toBeGreaterThan(90);
    expect(await sum(one)).toBe(written);
    await cloud.unmounted(one, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("is copied as a snapshot into the volume, mounted or not", async () => {
    pool(await device(64));
    const disk = await newDisk(32);
    await cloud.mounted(one, disk);
    const written = (await write(one)).replace("data", "-");
    for (const mounted of [true, false]) {
      if (!mounted) await cloud.unmounted(one, disk);
      const snapshot = await cloud.result<string>("snapshot_disk", [disk, {}]);
      const copy = `/slipway/snapshots/${snapshot}/${snapshot}.img`;
      await inDiskHelper(`e2fsck -fn ${copy}`);
      expect(
        await inDiskHelper(
          `mkdir -p /tmp/m && mount -o loop,ro,noload ${copy} /tmp/m && md5sum </tmp/m/data; umount /tmp/m`,
        ),
      ).toBe(written);
      await cloud.result("delete_snapshot", [snapshot]);
    }
    await cloud.result("delete_disk", [disk]);
  });

  it("is refused when another device has its path, and found when the device has another number", async () => {
    const [at, foreign] = [await device(48), await device(48)];
    pool(at);
    const disk = await newDisk(32);
    await cloud.mounted(one, disk);
    const written = await write(one);
    await cloud.unmounted(one, disk);
    const before = await content(foreign);
    const [was, next] = [await loopOf(at), await loopOf(foreign)];
    await systemExec("ln", ["-sf", next, at]);
    expect(await cloud.refusal("attach_disk", [one.cid, disk])).toMatch(/DOC-019.*another device now/);
    await systemExec("rm", [at]);
    expect(await cloud.refusal("attach_disk", [one.cid, disk])).toMatch(/DOC-019.*there is no/);
    expect(await content(foreign)).toBe(before);
    const moved = await inDiskHelper(
      `losetup --detach ${was} && losetup --detach ${next} &&
        losetup --find --show /slipway/${foreign.slice(5)} >/dev/null && losetup --find --show /slipway/${at.slice(5)}`,
    );
    await systemExec("ln", ["-s", moved, at]);
    await cloud.mounted(one, disk);
    expect(await sum(one)).toBe(written);
    await cloud.unmounted(one, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("is not deleted, and no other device wiped, when its node cannot follow its number", async () => {
    const [at, foreign] = [await device(32), await device(32)];
    pool(at);
    const [blank, disk] = [await content(at), await newDisk(8)];
    const image = `/slipway/disks/${disk}/${disk}.img`;
    await inDiskHelper(`dd if=/dev/urandom of=${foreign} bs=1M count=32 conv=notrunc,fsync && rm ${image} &&
      mknod ${image} b $(stat -L -c '0x%t 0x%T' ${foreign}) && mkdir ${image}.new`);
    const before = await content(foreign);
    expect(await cloud.refusal("delete_disk", [disk])).toMatch(/DOC-016/);
    expect(await cloud.result("has_disk", [disk])).toBe(true);
    await inDiskHelper(`rmdir ${image}.new`);
    await cloud.result("delete_disk", [disk]);
    await expect.poll(() => content(at)).toBe(blank);
    expect(await content(foreign)).toBe(before);
  });

  it("is one volume's alone, also when two take its device in the same moment", async () => {
    const foreign = await DockerCloud.open();
    try {
      await foreign.newStemcell();
      await foreign.result("delete_disk", [await foreign.newDisk(8)]);
      const at = await device(32);
      pool(at);
      Object.assign(foreign.config, { devices: [at] });
      const order = [8, { type: "device" }, null];
      const replies = await Promise.all([cloud, foreign].map((one) => one.ask("create_disk", order)));
      const refusals = replies.flatMap(({ error }) => error?.message ?? []);
      expect(refusals).toEqual([expect.stringMatching(/says that it is disk-\w+ of another volume/)]);
      for (const [n, one] of [cloud, foreign].entries())
        if (replies[n]?.error === null) await one.result("delete_disk", [replies[n]?.result]);
    } finally {
      await foreign.close();
    }
  });

  it("is made with a disk helper that may open devices of its kind", async () => {
    const node = `/dev/slipway-pool-${systemRandom.hex(4)}`;
    nodes.push(node);
    // Of a kind that no driver has: it can never be opened.
    await systemExec("mknod", [node, "b", "240", "0"]);
    const free = await device(32);
    pool(node, free);
    const disk = await newDisk(8);
    expect(await deviceOf(disk)).toBe(free);
    const diskHelper = new DockerVm(cloud, diskHelperName(await cloud.cloud()), "");
    expect(await diskHelper.look()).toMatchObject({
      HostConfig: { Privileged: false, DeviceCgroupRules: expect.arrayContaining(["b 240:* rwm"]) },
    });
    await cloud.result("delete_disk", [disk]);
  });
});
