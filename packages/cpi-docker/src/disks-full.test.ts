import { DockerCloud, engineTrouble, type Vm } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { SmallDisk } from "@slipway/testkit/small-disk";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { diskHelperName } from "./disks/disk-helper.ts";
import { execIn } from "./engine/exec.ts";

const trouble =
  (await engineTrouble()) ?? (process.getuid?.() === 0 ? undefined : "mounting a small disk needs root");

describe.runIf(needs("docker", trouble === undefined, trouble))("in a volume that can be full", () => {
  let small: SmallDisk;
  let cloud: DockerCloud;
  let vm: Vm;

  beforeAll(async () => {
    small = await SmallDisk.open(400);
    cloud = await DockerCloud.open();
    const { engine, config } = await cloud.cloud();
    const options = { type: "none", o: "bind", device: small.dir };
    await engine.run({
      doing: "making a small volume",
      method: "POST",
      path: "/volumes/create",
      body: { Name: config.volume, DriverOpts: options },
    });
    vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
  });
  const freed = () => small.free("disks", "snapshots");
  afterEach(freed);
  afterAll(async () => {
    await cloud?.close();
    await small?.close();
  });

  const MIB = 1 << 20;
  const inDiskHelper = async (script: string) => {
    const opened = await cloud.cloud();
    return (await execIn(opened.engine, diskHelperName(opened), ["sh", "-c", script], "a test")).stdout;
  };
  /** MiB that its file has. */
  const spaceOf = async (disk: string) =>
    Number(await inDiskHelper(`stat -c %b /slipway/disks/${disk}/${disk}.img`)) / 2048;
  const newDisk = (mib: number, properties: object = {}) =>
    cloud.result<string>("create_disk", [mib, properties, null]);

  it("the disk of a running VM keeps its space and stays writable while nothing is free", async () => {
    const disk = await newDisk(64);
    await cloud.mounted(vm, disk);
    // Making a file system has made no holes, and what it does not need is not given back.
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64);
    const queue = "/sys/dev/block/$(mountpoint -d /var/vcap/store)/queue";
    expect(await vm.must(`cat ${queue}/discard_max_bytes`)).toBe("0");
    await small.fill("all");
    const write =
      "dd if=/dev/urandom of=file bs=1M count=30 conv=fsync && mkdir -p a/b && sync -f . && echo yes";
    expect(await vm.must(`cd /var/vcap/store && ${write} 2>/dev/null`)).toBe("yes");
    await freed();
    await cloud.unmounted(vm, disk);
    await cloud.result("delete_disk", [disk]);
  });

  it("a disk for which there is no space is refused, a thin one is not, and nothing is left", async () => {
    const refusal = await cloud.refusal("create_disk", [1000, {}, null]);
    expect(refusal).toContain("Bosh::Clouds::NoDiskSpace");
    expect(refusal).toMatch(/the volume has \d{3} MiB for it.*provisioning: thin/);
    expect(await inDiskHelper("ls -A /slipway/disks")).toBe("");
    const thin = await newDisk(1000, { provisioning: "thin" });
    expect(await spaceOf(thin)).toBeLessThan(1);
    await cloud.result("delete_disk", [thin]);
  });

  it("a disk grows with its space, or stays as it was", async () => {
    const disk = await newDisk(32);
    expect(await cloud.refusal("resize_disk", [disk, 2000])).toContain("NoDiskSpace");
    expect(await spaceOf(disk)).toBeLessThan(33);
    await cloud.result("resize_disk", [disk, 64]);
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64);
    await cloud.result("delete_disk", [disk]);
  });

  it("a thin disk gets its space when it is to be preallocated, if there is any", async () => {
    const disk = await newDisk(64, { provisioning: "thin" });
    const wanted = { provisioning: "preallocated" };
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("update_disk", [disk, 64, wanted])).toContain("NoDiskSpace");
    await freed();
    await cloud.result("update_disk", [disk, 64, wanted]);
    expect(await spaceOf(disk)).toBeGreaterThanOrEqual(64);
    await cloud.result("delete_disk", [disk]);
  });

  it("a snapshot for which there is no space is refused, and leaves nothing", async () => {
    const disk = await newDisk(64);
    await cloud.mounted(vm, disk);
    await vm.must("cd /var/vcap/store && dd if=/dev/urandom of=file bs=1M count=20 conv=fsync 2>/dev/null");
    await small.fill("all", 4 * MIB);
    expect(await cloud.refusal("snapshot_disk", [disk, {}])).toContain("NoDiskSpace");
    expect(await inDiskHelper("ls -A /slipway/snapshots")).toBe("");
    expect(await vm.must("echo on > /var/vcap/store/file && cat /var/vcap/store/file")).toBe("on");
    await cloud.unmounted(vm, disk);
    await cloud.result("delete_disk", [disk]);
  });
});
