import { DockerCloud, DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskHelperName } from "./disks/disk-helper.ts";
import { execIn } from "./engine/exec.ts";
import { removeContainer } from "./vms/containers.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a disk that grows", () => {
  let cloud: DockerCloud;
  let vm: DockerVm;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
  });
  afterAll(() => cloud.close());

  const inDiskHelper = async (script: string) => {
    const opened = await cloud.cloud();
    return await execIn(opened.engine, diskHelperName(opened), ["sh", "-c", script], "a test");
  };
  /** MiB of the file system, and of the device below it. */
  const size = async (at = "/var/vcap/store") =>
    Number(await vm.must(`df -m ${at} | awk 'NR == 2 { print $2 }'`));
  const deviceSize = async (disk: string) =>
    Number(await vm.must(`blockdev --getsize64 /dev/slipway-${disk}`)) / 2 ** 20;
  const write = () =>
    vm.must(
      "cd /var/vcap/store && dd if=/dev/urandom of=data bs=64k count=100 2>/dev/null && sync && md5sum data",
    );
  const sum = () => vm.must("cd /var/vcap/store && md5sum data");
  const diskHelperHas = async (capability: string) => {
    const diskHelper = new DockerVm(cloud, diskHelperName(await cloud.cloud()), "");
    return ((await diskHelper.look()) as { HostConfig: { CapAdd: string[] } }).HostConfig.CapAdd.includes(
      capability,
    );
  };

  it("does so while it is detached, and its file system when it is mounted; it never shrinks", async () => {
    const disk = await cloud.newDisk(32);
    await cloud.mounted(vm, disk);
    const written = await write();
    const before = await size();
    await cloud.unmounted(vm, disk);
    await cloud.result("resize_disk", [disk, 32]);
    await cloud.result("resize_disk", [disk, 96]);
    expect(await cloud.refusal("resize_disk", [disk, 95])).toMatch(/NotSupported.*has 96 MiB/);
    expect(await cloud.result("update_disk", [disk, 128, {}])).toBe(disk);
    expect(await cloud.refusal("update_disk", [disk, 128, { type: "device" }])).toContain("NotSupported");
    await cloud.mounted(vm, disk);
    expect(await size()).toBeGreaterThan(before * 3);
    expect(await sum()).toBe(written);
    await cloud.unmounted(vm, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("does so while it is attached and nothing is mounted", async () => {
    const disk = await cloud.newDisk(32);
    await cloud.result("attach_disk", [vm.cid, disk]);
    await cloud.result("resize_disk", [disk, 64]);
    expect(await deviceSize(disk)).toBe(64);
    expect(await cloud.refusal("resize_disk", [disk, 63])).toMatch(/NotSupported.*has 64 MiB/);
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("is finished by the repeat, or the next attach, when it was killed before its device had grown", async () => {
    const disk = await cloud.newDisk(32);
    const again = [
      () => cloud.result("resize_disk", [disk, 64]),
      () => cloud.result("attach_disk", [vm.cid, disk]),
    ];
    await cloud.result("attach_disk", [vm.cid, disk]);
    for (const [at, repeat] of again.entries()) {
      const mib = 64 + at;
      await inDiskHelper(`truncate -s ${mib}M /slipway/disks/${disk}/${disk}.img`);
      expect(await deviceSize(disk)).toBeLessThan(mib);
      await repeat();
      expect(await deviceSize(disk)).toBe(mib);
    }
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("needs one disk helper, which several calls at once make if it is missing", async () => {
    const opened = await cloud.cloud();
    await removeContainer(opened, diskHelperName(opened));
    const disks = await Promise.all(Array.from({ length: 4 }, () => cloud.newDisk(8)));
    expect(new Set(disks).size).toBe(4);
    for (const disk of disks) await cloud.result("delete_disk", [disk]);
  });

  it("does so while it is mounted and written to; ext4 at once where the host allows it, else at the next mount", async () => {
    const disk = await cloud.newDisk(32);
    await cloud.mounted(vm, disk);
    const written = await write();
    const before = await size();
    await vm.must(
      "cd /var/vcap/store && (while :; do echo x >>log; sync; done >/dev/null 2>&1 & echo $! >/tmp/writer)",
    );
    const replies = [
      await cloud.ask("resize_disk", [disk, 96]),
      // The repeat of a call whose answer was lost.
      await cloud.ask("resize_disk", [disk, 96]),
      await cloud.ask("update_disk", [disk, 128, {}]),
    ];
    await vm.must("kill -9 $(cat /tmp/writer)");
    expect(replies.map(({ error }) => error)).toEqual([null, null, null]);
    expect(await deviceSize(disk)).toBe(128);
    const online = await diskHelperHas("SYS_RESOURCE");
    const warned = /grows when it is mounted the next time/;
    for (const { log } of replies) online ? expect(log).not.toMatch(warned) : expect(log).toMatch(warned);
    expect((await size()) > before * 3).toBe(online);
    expect((await inDiskHelper("grep -c /slipway/.grow /proc/mounts")).stdout.trim()).toBe("0");
    expect(await sum()).toBe(written);
    await cloud.unmounted(vm, disk);
    await cloud.mounted(vm, disk);
    expect(await size()).toBeGreaterThan(before * 3);
    expect(await sum()).toBe(written);
    await cloud.unmounted(vm, disk);
    expect((await inDiskHelper(`e2fsck -fn /slipway/disks/${disk}/${disk}.img`)).code).toBe(0);
    await cloud.result("delete_disk", [disk]);
  });

  it("takes a mounted xfs with it at once", async ({ skip }) => {
    const disk = await cloud.newDisk(320);
    await cloud.result("attach_disk", [vm.cid, disk]);
    const made = await vm.run(`mkfs.xfs -q /dev/slipway-${disk} && mkdir -p /mnt/x &&
      mount /dev/slipway-${disk} /mnt/x && echo data >/mnt/x/data`);
    const able = made.code === 0 && (await inDiskHelper("command -v xfs_growfs")).code === 0;
    if (able) {
      const before = await size("/mnt/x");
      const { error, log } = await cloud.ask("resize_disk", [disk, 640]);
      expect(error).toBeNull();
      expect(log).not.toContain("the next time");
      expect(await size("/mnt/x")).toBeGreaterThan(before * 1.8);
      expect(await vm.must("cat /mnt/x/data && umount /mnt/x")).toBe("data");
    }
    await cloud.result("detach_disk", [vm.cid, disk]);
    await cloud.result("delete_disk", [disk]);
    if (!able) skip("no xfs here");
  });
});
