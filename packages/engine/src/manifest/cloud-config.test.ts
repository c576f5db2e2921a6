import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { problemsError } from "../documents/problems.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { formatRange } from "./ip.ts";
import { CLOUD } from "./testing/documents.ts";

const cloud = () => parseYaml(CLOUD, "cloud.yml");

function changed(path: string, value: unknown): unknown {
  const operation = value === undefined ? { type: "remove", path } : { type: "replace", path, value };
  return applyOps(cloud(), [operation], "test");
}

function configOf(...values: unknown[]) {
  const parsed = parseCloudConfig(values);
  if (!parsed.ok) throw problemsError("cloud config", parsed.problems);
  return parsed.cloudConfig;
}

const problemsOf = (...values: unknown[]) => {
  const parsed = parseCloudConfig(values);
  return parsed.ok ? [] : parsed.problems;
};

describe("cloud configs", () => {
  it("are read with their defaults", () => {
    const config = configOf(cloud());
    expect(config).toMatchObject({
      azs: [
        { name: "z1", cpi: undefined, cloudProperties: { zone: "a" } },
        { name: "z2", cpi: undefined, cloudProperties: {} },
      ],
      vmTypes: [{ name: "small", cloudProperties: { cpu: 1 } }],
      diskTypes: [{ name: "d10", size: 10240, cloudProperties: {} }],
      compilation: { workers: 4 },
    });
    const [manual, dynamic, vip] = config.networks;
    expect(manual).toMatchObject({
      type: "manual",
      subnets: [
        { range: "10.4.0.0/24", gateway: "10.4.0.1", azs: ["z1"], dns: ["10.4.0.2"] },
        { azs: ["z2"], reserved: [], static: [], dns: [], cloudProperties: {} },
      ],
    });
    const first = manual?.type === "manual" ? manual.subnets[0] : undefined;
    expect(first?.reserved.map(formatRange)).toEqual(["10.4.0.2-10.4.0.9"]);
    expect(first?.static.map(formatRange)).toEqual(["10.4.0.200-10.4.0.220"]);
    expect(dynamic).toEqual({
      type: "dynamic",
      name: "outside",
      subnets: [{ azs: ["z1", "z2"], dns: ["8.8.8.8"], cloudProperties: {} }],
    });
    expect(vip).toEqual({ type: "vip", name: "floating", cloudProperties: {}, subnets: [] });
  });

  it.each(["/azs/0/name", "/vm_types/0/name", "/networks/0/name"])(
    "refuses names that no path and no object can hold at %s",
    (path) => {
      for (const name of [".", "..", "__proto__"])
        expect(problemsOf(changed(path, name)).map(({ problem }) => problem)).toContain(
          `'${name}' cannot be a name`,
        );
    },
  );

  it("a dynamic network without subnets has one without zones", () => {
    const config = configOf(
      changed("/networks/name=outside", { name: "outside", type: "dynamic", dns: ["1.1.1.1"] }),
    );
    expect(config.networks[1]).toMatchObject({ subnets: [{ azs: undefined, dns: ["1.1.1.1"] }] });
  });

  it("several are joined list by list", () => {
    const config = configOf(cloud(), { azs: [{ name: "z3" }], vm_types: [{ name: "big" }] });
    expect(config.azs.map((az) => az.name)).toEqual(["z1", "z2", "z3"]);
    expect(config.vmTypes.map((type) => type.name)).toEqual(["small", "big"]);
  });

  it("compilation stands in one of them", () => {
    expect(problemsOf(cloud(), { compilation: {} })).toContainEqual(
      expect.objectContaining({ code: 570000, where: "compilation" }),
    );
  });

  it("none at all says how to upload one", () => {
    expect(problemsOf()).toMatchObject([
      { code: 190008, fix: expect.stringContaining("update-cloud-config") },
    ]);
  });
});

const SUBNET = "/networks/name=private/subnets/0";
const subnet = (rest: string) => `networks[private].subnets[0].${rest}`;

describe("a mistake is reported at its place, with upstream's number", () => {
  it.each<[string, unknown, string, number]>([
    ["/azs/-", { name: "z1" }, "azs[z1].name", 190017],
    ["/azs/0/name", undefined, "azs[0].name", 40001],
    ["/azs/0/cloud_properties", null, "azs[z1].cloud_properties", 40000],
    ["/vm_types/-", { name: "small" }, "vm_types[small].name", 190004],
    ["/vm_extensions/-", { name: "lb" }, "vm_extensions[lb].name", 190005],
    ["/disk_types/-", { name: "d10", disk_size: 1 }, "disk_types[d10].name", 190013],
    ["/disk_types/0/disk_size", undefined, "disk_types[d10].disk_size", 40001],
    ["/disk_types/0/disk_size", "10G", "disk_types[d10].disk_size", 40000],
    ["/disk_types/0/disk_size", -1, "disk_types[d10].disk_size", 200001],
    ["/networks", undefined, "networks", 40001],
    ["/networks", [], "networks", 190008],
    ["/networks", "x", "networks", 40000],
    ["/networks/-", { name: "Private", type: "dynamic" }, "networks[Private].name", 190007],
    ["/networks/name=outside/type", "magic", "networks[outside].type", 190010],
    ["/networks/name=outside/type", null, "networks[outside].type", 40000],
    ["/networks/name=outside/az?", "z1", "networks[outside].az", 160008],
    ["/networks/name=outside/dns?", [], "networks[outside].dns", 160008],
    ["/networks/name=outside/managed?", true, "networks[outside].managed", 160008],
    ["/networks/name=private/subnets", undefined, "networks[private].subnets", 40001],
    [`${SUBNET}/range`, undefined, subnet("range"), 40001],
    [`${SUBNET}/range`, "10.4.0.0", subnet("range"), 160002],
    [`${SUBNET}/range`, "fd00::/129", subnet("range"), 160002],
    [`${SUBNET}/range`, "10.4.0.0/16", "networks[private].subnets[1].range", 160001],
    [`${SUBNET}/gateway`, undefined, subnet("gateway"), 40001],
    [`${SUBNET}/gateway`, "10.5.0.1", subnet("gateway"), 160003],
    [`${SUBNET}/gateway`, "10.4.0.0", subnet("gateway"), 160003],
    [`${SUBNET}/gateway`, "10.4.0.255", subnet("gateway"), 160003],
    [`${SUBNET}/dns`, ["one"], subnet("dns[0]"), 160004],
    [`${SUBNET}/reserved`, "10.5.0.1", subnet("reserved"), 160005],
    [`${SUBNET}/reserved`, ["x"], subnet("reserved[0]"), 160010],
    [`${SUBNET}/reserved`, 7, subnet("reserved"), 40000],
    [`${SUBNET}/static`, ["10.4.1.1"], subnet("static"), 160006],
    [`${SUBNET}/static`, ["10.4.0.9-10.4.0.10"], subnet("static"), 160006],
    [`${SUBNET}/static`, ["10.4.0.1"], subnet("static"), 160006],
    [`${SUBNET}/static`, ["10.4.0.250-10.4.0.255"], subnet("static"), 160006],
    [`${SUBNET}/az`, "z9", subnet("az"), 160007],
    [`${SUBNET}/az`, undefined, "networks[private].subnets[0]", 150007],
    [`${SUBNET}/azs?`, ["z1"], subnet("az"), 160008],
    [`${SUBNET}/azs?`, [], subnet("azs"), 160008],
    [`${SUBNET}/prefix?`, 129, subnet("prefix"), 160008],
    [`${SUBNET}/prefix?`, 2, subnet("prefix"), 16013],
    ["/compilation", undefined, "compilation", 40001],
    ["/compilation/workers", 0, "compilation.workers", 40002],
    ["/compilation/network", "gone", "compilation.network", 120001],
    ["/compilation/az", "z9", "compilation.az", 120002],
    ["/compilation/az", undefined, "compilation.az", 120002],
    ["/compilation/vm_type", "gone", "compilation.vm_type", 120003],
    ["/compilation/cloud_properties?", { cpu: 1 }, "compilation.cloud_properties", 120007],
    ["/compilation/vm_extensions?", ["gone"], "compilation.vm_extensions", 120005],
  ])("%s: %j", (path, value, where, code) => {
    expect(problemsOf(changed(path, value))).toContainEqual(expect.objectContaining({ where, code }));
  });

  it("cloud properties that are empty say nothing beside a VM type of the compilation", () => {
    expect(problemsOf(changed("/compilation/cloud_properties?", {}))).toEqual([]);
  });

  it.each([
    ["az", "z9", "Compilation config references unknown az 'z9'. Known azs are: [z1, z2]"],
    ["vm_type", "gone", "Compilation config references unknown vm type 'gone'. Known vm types are: "],
    ["network", "gone", "Compilation config references an unknown network 'gone'"],
    [
      "vm_extensions?",
      ["x"],
      "Compilation config references unknown vm extension 'x'. Known vm extensions are: ",
    ],
  ])("reports the compilation's %s in upstream's words", (key, value, words) => {
    const said = problemsOf(changed(`/compilation/${key}`, value)).map(({ problem }) => problem);
    expect(said).toContainEqual(expect.stringContaining(words));
  });

  it("accepts a missing gateway if the Director ignores that, and still checks one that is set", () => {
    const found = (config: unknown) => {
      const parsed = parseCloudConfig([config], undefined, true);
      return parsed.ok ? parsed.cloudConfig.networks : parsed.problems;
    };
    expect(found(changed(`${SUBNET}/gateway`, undefined))).toContainEqual(
      expect.objectContaining({
        name: "private",
        subnets: expect.arrayContaining([
          expect.objectContaining({ range: "10.4.0.0/24", gateway: undefined }),
        ]),
      }),
    );
    expect(found(changed(`${SUBNET}/gateway`, "10.5.0.1"))).toEqual([
      expect.objectContaining({ code: 160003 }),
    ]);
  });

  it("a gateway of the other family is outside the range", () => {
    const problems = problemsOf(changed(`${SUBNET}/range`, "fd00::/64"));
    expect(problems).toContainEqual(
      expect.objectContaining({
        code: 160003,
        problem:
          "Invalid gateway for network 'private': must be inside the range fd00::-fd00::ffff:ffff:ffff:ffff",
      }),
    );
  });

  it("whatever comes in, it ends in a config or in problems", () => {
    const paths = [
      "/azs",
      "/azs/0",
      "/networks",
      "/networks/0",
      SUBNET,
      `${SUBNET}/static`,
      "/networks/1",
      "/compilation",
      "/disk_types/0",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.anything(), (path, value) => {
        expect(parseCloudConfig([changed(path, value ?? null), value])).toHaveProperty("ok");
      }),
      { numRuns: tries(500) },
    );
  });
});
