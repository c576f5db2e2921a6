import { type FullHost, testDiskSpace } from "@slipway/testkit/disk-space";
import { DockerCloud, type DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
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
  let vm: DockerVm;

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

  const inDiskHelper = async (script: string) => {
    const opened = await cloud.cloud();
    return (await execIn(opened.engine, diskHelperName(opened), ["sh", "-c", script], "a test")).stdout;
  };
  const imageOf = (disk: string) => `/slipway/disks/${disk}/${disk}.img`;

  it("the disk of a running VM keeps its space and stays writable while nothing is free", async () => {
    const disk = await cloud.newDisk(64);
    await cloud.mounted(vm, disk);
    // Making a file system has made no holes, and what it does not need is not given back.
    expect((await host.stat(disk)).space).toBeGreaterThanOrEqual(64 << 20);
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

  const host: FullHost = {
    get cloud() {
      return cloud;
    },
    get small() {
      return small;
    },
    freed,
    stat: async (disk) => {
      const [size = 0, blocks = 0] = (await inDiskHelper(`stat -c '%s %b' ${imageOf(disk)}`))
        .split(" ")
        .map(Number);
      return { size, space: blocks * 512 };
    },
    all: async (kind) =>
      (await inDiskHelper(`ls -A /slipway/${kind}`)).split("\n").filter((name) => name !== ""),
    mounted: async (disk) => {
      await cloud.mounted(vm, disk);
      return "/var/vcap/store";
    },
    unmounted: (disk) => cloud.unmounted(vm, disk),
    inside: (script) => vm.must(script),
  };
  testDiskSpace(() => host, { says: /the volume has \d{3} MiB for it.*provisioning: thin/, empty: 1 });
});
