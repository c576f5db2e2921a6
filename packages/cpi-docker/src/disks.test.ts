import { DockerCloud, type DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskHelperName } from "./disks/disk-helper.ts";
import { execIn } from "./engine/exec.ts";
import { removeContainer, restartContainer } from "./vms/containers.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a disk of the Docker CPI", () => {
  let cloud: DockerCloud;
  let stemcell: string;
  let one: DockerVm;
  let other: DockerVm;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    stemcell = await cloud.newStemcell();
    [one, other] = await Promise.all([cloud.newVm(stemcell), cloud.newVm(stemcell)]);
    await Promise.all([one.pong(), other.pong()]);
  });
  afterAll(() => cloud.close());

  const inDiskHelper = async (script: string): Promise<string> => {
    const { engine, ...rest } = await cloud.cloud();
    const ran = await execIn(engine, diskHelperName({ engine, ...rest }), ["sh", "-c", script], "a test");
    if (ran.code !== 0) throw new Error(`${script}: ${ran.code} ${ran.stderr}`);
    return ran.stdout.trim();
  };
  const write = (vm: DockerVm, name = "data") =>
    vm.must(
      `cd /var/vcap/store && dd if=/dev/urandom of=${name} bs=64k count=100 2>/dev/null && sync && md5sum ${name}`,
    );
  const sum = (vm: DockerVm, name = "data") => vm.must(`cd /var/vcap/store && md5sum ${name}`);

  it("is listed with its size, its description and the VM that has it", async () => {
    const disk = await cloud.newDisk();
    const metadata = { director: "d", deployment: "shop", note: "tab\there" };
    await cloud.result("set_disk_metadata", [disk, metadata]);
    await cloud.result("set_vm_metadata", [other.cid, { deployment: "shop" }]);
    await cloud.mounted(other, disk);
    type Listed = { vms: { cid: string; metadata: object; disk_cids: string[] }[]; disks: { cid: string }[] };
    const { vms, disks } = await cloud.result<Listed>("list_resources", []);
    expect(disks.find(({ cid }) => cid === disk)).toMatchObject({ metadata, size: expect.any(Number) });
    expect(vms.find(({ cid }) => cid === other.cid)).toMatchObject({
      metadata: { deployment: "shop" },
      agent_id: expect.any(String),
      stemcell_cid: stemcell,
      networks: expect.any(Object),
      disk_cids: [disk],
    });
    expect(vms.find(({ cid }) => cid === one.cid)).toMatchObject({ metadata: {}, disk_cids: [] });
    await cloud.unmounted(other, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("moves between running containers with its data, and has no loop device while it is detached", async () => {
    const disk = await cloud.newDisk();
    expect(await cloud.result("has_disk", [disk])).toBe(true);
    await cloud.mounted(one, disk);
    const written = await write(one);
    expect(await cloud.result("get_disks", [one.cid])).toEqual([disk]);
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      await cloud.unmounted(from, disk);
      expect(await cloud.loops()).toEqual([]);
      expect(await from.must("ls /dev | grep -c slipway || true")).toBe("0");
      await cloud.mounted(to, disk);
      expect(await sum(to)).toBe(written);
    }
    await cloud.unmounted(one, disk);
    await cloud.result("delete_disk", [disk]);
    expect(await cloud.result("has_disk", [disk])).toBe(false);
    expect(await cloud.refusal("delete_disk", [disk])).toContain("DiskNotFound");
  });

  it("is free if the host died while its VM was being written down, also for a starting disk helper", async () => {
    const disk = await cloud.newDisk();
    // What is left of a snapshot is removed when the disk helper has been through the disks.
    await inDiskHelper(`: >/slipway/disks/${disk}/vm; mkdir /slipway/.still-test`);
    const { engine, ...rest } = await cloud.cloud();
    await restartContainer({ engine, ...rest }, diskHelperName({ engine, ...rest }), 0);
    await expect
      .poll(() => inDiskHelper("ls -d /slipway/.still-test || echo gone").catch(() => "off"))
      .toBe("gone");
    expect(await cloud.loops()).toEqual([]);
    expect(await cloud.refusal("detach_disk", [one.cid, disk])).toContain("DiskNotAttached");
    await cloud.result("attach_disk", [other.cid, disk]);
    await cloud.result("detach_disk", [other.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("is attached with the same hint however often, to one VM only, beside others", async () => {
    const [disk, second] = [await cloud.newDisk(), await cloud.newDisk()];
    const hint = await cloud.result("attach_disk", [one.cid, disk]);
    expect(hint).toEqual({ path: `/dev/slipway-${disk}`, id: disk });
    expect(await cloud.result("attach_disk", [one.cid, disk])).toEqual(hint);
    expect(await cloud.result("attach_disk", [one.cid, second])).not.toEqual(hint);
    expect((await cloud.result<string[]>("get_disks", [one.cid])).sort()).toEqual([disk, second].sort());
    expect(await cloud.refusal("attach_disk", [other.cid, disk])).toMatch(/DOC-015.*is attached/);
    expect((await cloud.loops()).sort()).toEqual([disk, second].sort());
    for (const cid of [disk, second]) {
      await cloud.result("detach_disk", [one.cid, cid]);
      expect(await cloud.refusal("detach_disk", [one.cid, cid])).toContain("DiskNotAttached");
      await cloud.result("delete_disk", [cid]);
    }
    expect(await cloud.result("get_disks", [one.cid])).toEqual([]);
  });

  it("is neither detached nor deleted while it is in use, and stays as it is", async () => {
    const disk = await cloud.newDisk();
    await cloud.mounted(one, disk);
    const written = await write(one);
    expect(await cloud.refusal("detach_disk", [one.cid, disk])).toMatch(/DOC-015.*mounted/);
    expect(await cloud.refusal("delete_disk", [disk])).toMatch(/DOC-015.*is attached/);
    expect(await sum(one)).toBe(written);
    // The refused detach must not have made the loop device go with its last mount.
    await one.must("umount /var/vcap/store");
    expect(await cloud.loops()).toEqual([disk]);
    await cloud.result("detach_disk", [one.cid, disk]);
    expect(await cloud.loops()).toEqual([]);
    await one.value("remove_persistent_disk", disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("is detached when its mount goes a moment later, as a copied mount does", async () => {
    const disk = await cloud.newDisk();
    await cloud.mounted(one, disk);
    await one.must("(sleep 1; umount /var/vcap/store) >/dev/null 2>&1 &");
    await cloud.result("detach_disk", [one.cid, disk]);
    expect(await cloud.loops()).toEqual([]);
    await one.value("remove_persistent_disk", disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("is not detached while a program has its device open, and not lost when that ends", async () => {
    const disk = await cloud.newDisk();
    await cloud.result("attach_disk", [one.cid, disk]);
    await one.must(`sleep 3600 </dev/slipway-${disk} >/dev/null 2>&1 & echo $! >/tmp/opener`);
    expect(await cloud.refusal("detach_disk", [one.cid, disk])).toMatch(/DOC-015.*open/);
    await one.must("kill $(cat /tmp/opener)");
    expect(await cloud.loops()).toEqual([disk]);
    await cloud.result("detach_disk", [one.cid, disk]);
    await cloud.result("delete_disk", [disk]);
  });

  it("is free, with its data, when its VM is deleted with the disk mounted", async () => {
    const disk = await cloud.newDisk();
    const doomed = await (await cloud.newVm(stemcell)).pong();
    await cloud.mounted(doomed, disk);
    const written = await write(doomed);
    await cloud.result("delete_vm", [doomed.cid]);
    expect(await cloud.loops()).toEqual([]);
    expect(await cloud.result("has_disk", [disk])).toBe(true);
    await cloud.mounted(other, disk);
    expect(await sum(other)).toBe(written);
    await cloud.unmounted(other, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("can be taken from a VM whose container was removed outside the CPI", async () => {
    const disk = await cloud.newDisk();
    const doomed = await (await cloud.newVm(stemcell)).pong();
    await cloud.mounted(doomed, disk);
    const written = await write(doomed);
    await removeContainer(await cloud.cloud(), doomed.cid);
    await cloud.mounted(other, disk);
    expect(await sum(other)).toBe(written);
    await cloud.unmounted(other, disk);
    await cloud.result("delete_disk", [disk]);
    expect(await cloud.refusal("delete_vm", [doomed.cid])).toContain("VMNotFound");
  });

  it("is mounted again after reboot_vm, and after kill -9 of everything in the container", async () => {
    const disk = await cloud.newDisk();
    const vm = await (await cloud.newVm(stemcell)).pong();
    await cloud.mounted(vm, disk);
    const written = await write(vm);
    const mounted = async () => (await vm.run("mountpoint -q /var/vcap/store")).code;
    await cloud.result("reboot_vm", [vm.cid]);
    await vm.pong();
    await expect.poll(mounted).toBe(0);
    expect(await sum(vm)).toBe(written);
    const { engine } = await cloud.cloud();
    const { State } = (await vm.look()) as { State: { Pid: number } };
    // In the middle of writing, from outside: the engine sees a container that died.
    await vm.must("cd /var/vcap/store && (dd if=/dev/zero of=more bs=64k count=400 >/dev/null 2>&1 &)");
    process.kill(State.Pid, "SIGKILL");
    await expect.poll(async () => ((await vm.look()) as { RestartCount: number }).RestartCount).toBe(1);
    await vm.pong();
    await expect.poll(mounted).toBe(0);
    expect(await sum(vm)).toBe(written);
    await engine.run({
      doing: "stopping",
      method: "POST",
      path: `/containers/${vm.cid}/stop`,
      query: { t: "0" },
    });
    await cloud.result("delete_vm", [vm.cid]);
    expect(await cloud.loops()).toEqual([]);
    await inDiskHelper(`e2fsck -fp /slipway/disks/${disk}/${disk}.img`);
    await cloud.result("delete_disk", [disk]);
  });

  it("can be attached to a VM that is off, which has it when it starts", async () => {
    const disk = await cloud.newDisk();
    const vm = await (await cloud.newVm(stemcell)).pong();
    const { engine } = await cloud.cloud();
    await engine.run({
      doing: "stopping",
      method: "POST",
      path: `/containers/${vm.cid}/stop`,
      query: { t: "0" },
    });
    const hint = await cloud.result("attach_disk", [vm.cid, disk]);
    await cloud.result("reboot_vm", [vm.cid]);
    await vm.pong();
    await vm.value("add_persistent_disk", disk, hint);
    await vm.value("mount_disk", disk);
    expect(await vm.must("df --output=source /var/vcap/store | tail -n 1")).toBe(`/dev/slipway-${disk}`);
    await cloud.result("delete_vm", [vm.cid]);
    await cloud.result("delete_disk", [disk]);
  });

  it("can be copied as a snapshot while it is written to, and the copy is sound", async () => {
    const disk = await cloud.newDisk();
    await cloud.mounted(one, disk);
    const written = await write(one);
    await one.must(
      "cd /var/vcap/store && (while :; do echo x >>log; sync; done >/dev/null 2>&1 & echo $! >/tmp/writer)",
    );
    const snapshot = await cloud.result<string>("snapshot_disk", [disk, { deployment: "shop", index: 0 }]);
    await one.must("kill -9 $(cat /tmp/writer); echo still >/var/vcap/store/alive");
    const copy = `/slipway/snapshots/${snapshot}/${snapshot}.img`;
    await inDiskHelper(`e2fsck -fn ${copy}`);
    expect(
      await inDiskHelper(
        `mkdir -p /tmp/m && mount -o loop,ro,noload ${copy} /tmp/m && md5sum </tmp/m/data; umount /tmp/m`,
      ),
    ).toBe(written.replace("data", "-"));
    for (const _ of [1, 2]) await cloud.result("delete_snapshot", [snapshot]);
    await cloud.unmounted(one, disk);
    const detached = await cloud.result<string>("snapshot_disk", [disk, {}]);
    await cloud.result("delete_snapshot", [detached]);
    expect(await inDiskHelper("ls -A /slipway/snapshots")).toBe("");
    await cloud.result("delete_disk", [disk]);
  });

  it("goes on after a disk helper that was killed while the disk stood still", async () => {
    const disk = await cloud.newDisk();
    await cloud.mounted(one, disk);
    const name = diskHelperName(await cloud.cloud());
    const loop = await inDiskHelper(`losetup -n -O NAME -j /slipway/disks/${disk}/${disk}.img`);
    await inDiskHelper(`mkdir -p /tmp/f && mount ${loop} /tmp/f && fsfreeze -f /tmp/f`);
    const { engine } = await cloud.cloud();
    await engine.run({ doing: "killing", method: "POST", path: `/containers/${name}/kill` });
    // Docker does not restart what was killed through it; the next call does.
    expect(await cloud.result("has_disk", [disk])).toBe(true);
    await expect.poll(async () => (await one.run("timeout 5 touch /var/vcap/store/thawed")).code).toBe(0);
    await cloud.unmounted(one, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("is described by what set_disk_metadata said last", async () => {
    const disk = await cloud.newDisk();
    await cloud.result("set_disk_metadata", [disk, { a: "1" }]);
    await cloud.result("set_disk_metadata", [disk, { deployment: "shop", odd: `ü"'$(touch /x)` }]);
    expect(JSON.parse(await inDiskHelper(`cat /slipway/disks/${disk}/metadata.json`))).toEqual({
      deployment: "shop",
      odd: `ü"'$(touch /x)`,
    });
    expect(JSON.parse(await inDiskHelper(`cat /slipway/disks/${disk}/record.json`))).toMatchObject({
      "slipway.director": cloud.director,
      "slipway.cid": disk,
    });
    await cloud.result("delete_disk", [disk]);
  });

  it("is made once, however often the same request comes, and ten different ones at a time", async () => {
    const first = await cloud.result<string>("create_disk", [8, {}, null], "same-disk");
    expect(await cloud.result("create_disk", [8, {}, null], "same-disk")).toBe(first);
    const ten = await Promise.all(Array.from({ length: 10 }, () => cloud.newDisk(8)));
    expect(new Set([first, ...ten]).size).toBe(11);
    await Promise.all(ten.map((disk) => cloud.result("attach_disk", [one.cid, disk])));
    expect((await cloud.loops()).sort()).toEqual([...ten].sort());
    await Promise.all(ten.map((disk) => cloud.result("detach_disk", [one.cid, disk])));
    for (const disk of [first, ...ten]) await cloud.result("delete_disk", [disk]);
    expect(await inDiskHelper("ls -A /slipway/disks")).toBe("");
  });
});
