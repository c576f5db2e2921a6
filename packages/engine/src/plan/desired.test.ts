import { describe, expect, it } from "vitest";
import type { InstanceGroup } from "../manifest/model.ts";
import {
  cloud,
  cpis,
  group,
  input,
  manifest,
  manual,
  on,
  planned,
  refused,
  stemcell,
  subnet,
} from "./testing/builders.ts";

const two = cloud({
  azs: [
    { name: "z1", cpi: "first", cloudProperties: { zone: "a", nested: { a: 1 } } },
    { name: "z2", cpi: "second", cloudProperties: { zone: "b" } },
  ],
  vmTypes: [{ name: "small", cloudProperties: { cpu: 1, nested: { b: 2 } } }],
  vmExtensions: [
    { name: "lb", cloudProperties: { pool: "web", cpu: 2 } },
    { name: "big", cloudProperties: { cpu: 3 } },
  ],
  networks: [manual("private", subnet("10.0.0.0/24", { azs: ["z1", "z2"] }))],
});

/** In both zones, each of a CPI of its own. */
const inZones = (given: InstanceGroup, ...stemcells: readonly ReturnType<typeof stemcell>[]) =>
  input({ cloudConfig: two, cpis: cpis(["first", "second"]), stemcells, manifest: manifest([given]) });

describe("what an instance is to be", () => {
  it("has the properties of its zone, type and extensions, later ones winning as a whole", () => {
    const web = group("web", 1, { azs: ["z1"], vmExtensions: ["lb", "big"] });
    const made = planned(inZones(web, stemcell("1.1", "first", 1)));
    expect(made.desired[0]).toMatchObject({
      cpi: "first",
      vmType: "small",
      cloudProperties: { zone: "a", nested: { b: 2 }, pool: "web", cpu: 3 },
    });
  });

  it("takes extensions in the order the group has them", () => {
    const web = group("web", 1, { azs: ["z1"], vmExtensions: ["big", "lb"] });
    const made = planned(inZones(web, stemcell("1.1", "first", 1)));
    expect(made.desired[0]?.cloudProperties).toEqual({ zone: "a", nested: { b: 2 }, pool: "web", cpu: 2 });
  });

  it("has with vm_resources the properties of zone and extensions, and leaves the sizes to the CPI", () => {
    const vmResources = { cpu: 2, ram: 1024, ephemeral_disk_size: 4096 };
    const web = group("web", 1, { azs: ["z1"], vmType: undefined, vmResources, vmExtensions: ["lb"] });
    const made = planned(inZones(web, stemcell("1.1", "first", 1)));
    expect(made.desired[0]).toMatchObject({
      vmType: null,
      vmResources,
      cloudProperties: { zone: "a", nested: { a: 1 }, pool: "web", cpu: 2 },
    });
  });

  it("has the deployment's tags, the group's over them", () => {
    const given = manifest([group("web", 1, { tags: { b: "group" } })], { tags: { a: "all", b: "all" } });
    expect(planned(input({ manifest: given })).desired[0]?.tags).toEqual({ a: "all", b: "group" });
  });

  it("has the stemcell of its zone's CPI, and the deployment uses those of all", () => {
    const stemcells = [
      stemcell("1.1", "first", 1),
      stemcell("1.1", "second", 2),
      stemcell("1.2", "first", 3),
    ];
    const made = planned(inZones(group("web", 2, { azs: ["z1", "z2"] }), ...stemcells));
    expect(made.desired.map((one) => one.stemcell.cid)).toEqual(["sc-1.1-first", "sc-1.1-second"]);
    expect(made.stemcells.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("takes the latest stemcell where that is asked for", () => {
    const latest = manifest([group("web", 1)], {
      stemcells: [{ alias: "default", os: "ubuntu-jammy", name: undefined, version: "latest" }],
    });
    expect(planned(input({ manifest: latest })).desired[0]?.stemcell.version).toBe("1.2");
  });

  it.each([
    [{ persistentDisk: { size: 0 } }, null],
    [{ persistentDisk: { size: 10 } }, { size: 10, cloudProperties: {} }],
    [{ persistentDisk: { type: "d1" } }, { size: 1024, cloudProperties: { kind: "slow" } }],
    [{}, null],
  ])("has the disk of %o", (given, expected) => {
    const made = planned(input({ manifest: manifest([group("web", 1, given)]) }));
    expect(made.desired[0]?.persistentDisk).toEqual(expected);
  });
});

describe("what cannot be", () => {
  it("a stemcell that one of the CPIs does not have", () => {
    const problems = refused(inZones(group("web", 2, { azs: ["z1", "z2"] }), stemcell("1.1", "first", 1)));
    expect(problems).toMatchObject([
      {
        code: 50003,
        problem:
          'Required stemcell {"name"=>"bosh-docker-ubuntu-jammy", "version"=>"1.1"} not found for cpi second, please upload again',
      },
    ]);
  });

  it.each([
    [{ vmType: "huge" }, 140004],
    [{ vmExtensions: ["none"] }, 140004],
    [{ stemcell: "none" }, 140005],
    [{ azs: ["z9"], networks: [on("free")] }, 140018],
    [{ persistentDisk: { type: "none" } }, 140012],
    [{ networks: [on("none")] }, 150001],
  ])("%o is told once, whatever checked it before", (given, code) => {
    const free = {
      type: "dynamic",
      name: "free",
      subnets: [{ azs: undefined, dns: [], cloudProperties: {} }],
    } as const;
    const config = { ...cloud(), networks: [...cloud().networks, free] };
    const problems = refused(input({ cloudConfig: config, manifest: manifest([group("web", 2, given)]) }));
    expect(problems.map((one) => one.code)).toContain(code);
    expect(
      problems.filter((one) => one.code === code && one.where.includes("web")).length,
    ).toBeLessThanOrEqual(2);
  });
});
