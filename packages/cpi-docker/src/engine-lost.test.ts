import { needs } from "@slipway/agent/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DockerCloud, type Vm } from "./testing/docker-cloud.ts";
import { OwnEngine, ownEngineTrouble } from "./testing/own-engine.ts";

const trouble = await ownEngineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a VM with a disk", () => {
  let engine: OwnEngine;
  let cloud: DockerCloud;
  let vm: Vm;
  let disk: string;
  let written: string;

  beforeAll(async () => {
    engine = await OwnEngine.open();
    cloud = await DockerCloud.open(engine.host);
    vm = await (await cloud.newVm(await cloud.newStemcell())).pong();
    disk = await cloud.newDisk();
    await cloud.mounted(vm, disk);
    written = await vm.must(
      "cd /var/vcap/store && dd if=/dev/urandom of=data bs=64k count=100 2>/dev/null && sync && md5sum data",
    );
  });
  afterAll(async () => {
    await cloud.close().finally(() => engine.close());
  });

  const sound = async () => {
    await vm.pong();
    await expect.poll(async () => (await vm.run("mountpoint -q /var/vcap/store")).code).toBe(0);
    expect(await vm.must("cd /var/vcap/store && md5sum data")).toBe(written);
    expect(await cloud.loops()).toEqual([disk]);
    expect(await cloud.result("get_disks", [vm.cid])).toEqual([disk]);
  };

  it("survives kill -9 of the engine", { timeout: 120_000 }, async () => {
    await engine.kill();
    expect(await cloud.refusal("has_vm", [vm.cid])).toContain("DOC-001");
    await engine.start();
    await sound();
  });

  it("survives the loss of the host: it starts again by itself, with its disk mounted", {
    timeout: 120_000,
  }, async () => {
    await vm.must("cd /var/vcap/store && (dd if=/dev/zero of=more bs=64k count=400 >/dev/null 2>&1 &)");
    await engine.loseHost();
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
