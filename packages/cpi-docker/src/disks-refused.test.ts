import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DockerCloud, type DockerVm, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarOf } from "./engine/archive.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("with bad input, the Docker CPI", () => {
  let cloud: DockerCloud;
  let one: DockerVm;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    one = await cloud.newVm(await cloud.newStemcell());
    await cloud.newDisk(8);
  });
  afterAll(() => cloud.close());

  it.each([
    ["create_disk", () => [0, {}, null], /size/],
    ["create_disk", () => [-1, {}, null], /size/],
    ["create_disk", () => [2 ** 40, {}, null], /NoDiskSpace/],
    ["attach_disk", () => [one.cid, "disk-none"], /DiskNotFound/],
    ["attach_disk", () => [one.cid, "../disks"], /DiskNotFound/],
    ["attach_disk", () => ["vm-none", "disk-none"], /VMNotFound/],
    ["detach_disk", () => [one.cid, "disk-none"], /DiskNotFound/],
    ["detach_disk", () => ["vm-none", "disk-none"], /VMNotFound/],
    ["get_disks", () => ["vm-none"], /VMNotFound/],
    ["delete_disk", () => ["../../etc"], /DiskNotFound/],
    ["resize_disk", () => ["disk-none", 64], /DiskNotFound/],
    ["snapshot_disk", () => ["disk-none", {}], /DiskNotFound/],
    ["set_disk_metadata", () => ["disk-none", {}], /DiskNotFound/],
  ])("refuses %s with bad input", async (method, args, said) => {
    expect(await cloud.refusal(method, args())).toMatch(said);
  });

  it.each(["vm-none", "no such\nVM"])("gives no disk to %j, and takes none", async (vm) => {
    const disk = await cloud.newDisk(8);
    expect(await cloud.refusal("attach_disk", [vm, disk])).toContain("VMNotFound");
    expect(await cloud.loops()).toEqual([]);
    await cloud.result("delete_disk", [disk]);
  });
});

describe.runIf(trouble === undefined)("an engine without a stemcell", () => {
  let cloud: DockerCloud;
  beforeAll(async () => {
    cloud = await DockerCloud.open();
  });
  afterAll(() => cloud.close());

  it("knows no disk, and makes nothing to find that out", async () => {
    expect(await cloud.result("has_disk", ["disk-none"])).toBe(false);
    expect(await cloud.refusal("delete_disk", ["disk-none"])).toContain("DiskNotFound");
    await cloud.result("delete_snapshot", ["snapshot-none"]);
    const { engine, config } = await cloud.cloud();
    const reply = await engine.attempt({
      doing: "looking",
      method: "GET",
      path: `/volumes/${config.volume}`,
    });
    expect(reply).toMatchObject({ status: 404 });
  });

  it("says which image it lacks, and that an image will not do, and leaves nothing", async () => {
    Object.assign(cloud.config, { keeper_image: "not-here:1" });
    expect(await cloud.refusal("create_disk", [8, {}, null])).toMatch(/DOC-013.*not-here/);
    const file = join(cloud.dir, "small.tar");
    await writeFile(file, await tarOf([{ name: "etc/small", content: "small", mode: 0o644 }]));
    const stemcell = await cloud.newStemcell(file);
    Object.assign(cloud.config, { keeper_image: stemcell.replace("stemcell-", "slipway-stemcell:") });
    expect(await cloud.refusal("create_disk", [8, {}, null])).toMatch(/DOC-013.*it has no sh/);
    expect(await cloud.result("has_disk", ["disk-none"])).toBe(false);
    expect(await cloud.refusal("delete_vm", ["vm-none"])).toContain("VMNotFound");
  });
});
