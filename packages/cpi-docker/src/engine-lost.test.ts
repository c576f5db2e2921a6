import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { DockerCloud, type DockerVm } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { sampleOf } from "@slipway/testkit/sample";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OwnEngine, ownEngineTrouble } from "./testing/own-engine.ts";

const trouble = await ownEngineTrouble();

/** A device of the host, which has another number after every restart of it. */
class Device {
  readonly path = `/dev/slipway-lost-${systemRandom.hex(4)}`;
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Connects the device. `first`, if given, gets the next number, and the device the one after that. */
  async connect(first?: string): Promise<void> {
    const loops: string[] = [];
    for (const name of first === undefined ? ["pool"] : [first, "pool"]) {
      const file = join(this.#dir, name);
      await systemExec("truncate", ["-s", "64M", file]);
      loops.push((await systemExec("losetup", ["--find", "--show", file])).stdout.trim());
    }
    await systemExec("ln", ["-sf", loops.at(-1) ?? "", this.path]);
  }

  async disconnect(): Promise<void> {
    const { stdout } = await systemExec("losetup", ["--noheadings", "--output", "NAME,BACK-FILE"]);
    for (const line of stdout.split("\n"))
      if (line.includes(` ${this.#dir}/`))
        await systemExec("losetup", ["--detach", line.split(" ")[0] ?? ""]);
    await systemExec("rm", ["-f", this.path]);
  }
}

describe
  .runIf(needs("docker", trouble === undefined, trouble) && plays("parts", "engine lost"))
  .each(sampleOf("engine lost", ["file", "device"], 1))("a VM with a disk that is a %s", (type) => {
  let engine: OwnEngine;
  let cloud: DockerCloud;
  let vm: DockerVm;
  let disk: string;
  let device: Device;
  let written: string;

  beforeAll(async () => {
    engine = await OwnEngine.open();
    cloud = await DockerCloud.open(engine.host);
    vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
    device = new Device(cloud.dir);
    await device.connect();
    Object.assign(cloud.config, { devices: [device.path] });
    disk = await cloud.result<string>("create_disk", [32, { type }, null]);
    await cloud.mounted(vm, disk);
    written = await vm.must(
      "cd /var/vcap/store && dd if=/dev/urandom of=data bs=64k count=100 2>/dev/null && sync && md5sum data",
    );
  });
  afterAll(async () => {
    await cloud.close().finally(() => engine.close());
    await device.disconnect();
  });

  const sound = async () => {
    await vm.pong();
    await expect.poll(async () => (await vm.run("mountpoint -q /var/vcap/store")).code).toBe(0);
    expect(await vm.must("cd /var/vcap/store && md5sum data")).toBe(written);
    expect(await cloud.loops()).toEqual([disk]);
    expect(await cloud.result("get_disks", [vm.cid])).toEqual([disk]);
  };

  it("survives kill -9 of the engine", async () => {
    await engine.kill();
    expect(await cloud.refusal("has_vm", [vm.cid])).toContain("DOC-001");
    await engine.start();
    await sound();
  });

  it("survives the loss of the host: it starts again by itself, with its disk mounted", async () => {
    await vm.must("cd /var/vcap/store && (dd if=/dev/zero of=more bs=64k count=400 >/dev/null 2>&1 &)");
    await engine.loseHost();
    await device.disconnect();
    await device.connect("another");
    await engine.start();
    await sound();
  });

  it("lets its disk go afterwards as before", async () => {
    await cloud.unmounted(vm, disk);
    expect(await cloud.loops()).toEqual([]);
    await cloud.result("delete_disk", [disk]);
    await cloud.result("delete_vm", [vm.cid]);
  });
});
