import { describe, expect, it } from "vitest";
import { parseCloudConfig } from "../manifest/cloud-config.ts";
import type { CloudConfig } from "../manifest/model.ts";
import { referenceProblems } from "../manifest/references.ts";
import type { Plan } from "./model.ts";
import {
  cloud,
  group,
  input,
  manifest,
  manual,
  on,
  planned,
  ranges,
  refused,
  subnet,
} from "./testing/builders.ts";
import { deployed, next, updatesOf } from "./testing/world.ts";

const handing = (
  prefix: number,
  given: Parameters<typeof subnet>[1] = {},
  range = "10.0.0.0/26",
): CloudConfig => cloud({ networks: [manual("private", subnet(range, { prefix, ...given }))] });

const blocks = (cloudConfig: CloudConfig, count: number, taken: readonly string[] = []) =>
  planned(
    input({
      cloudConfig,
      manifest: manifest([group("web", count)]),
      takenIps: new Map(taken.map((ip) => [ip, "instance 'x/1' from deployment 'other'"])),
    }),
  ).desired.flatMap(({ ips }) => ips.map(({ address }) => address));

describe("a subnet that hands out prefixes", () => {
  it.each([
    ["not those of the gateway and of the last address", handing(28), [], ["10.0.0.16/28", "10.0.0.32/28"]],
    [
      "not where something is reserved",
      handing(29, { reserved: ranges("10.0.0.9") }),
      [],
      ["10.0.0.16/29", "10.0.0.24/29"],
    ],
    [
      "not where a static one is",
      handing(29, { static: ranges("10.0.0.16") }),
      [],
      ["10.0.0.8/29", "10.0.0.24/29"],
    ],
    ["not where an address is taken", handing(29), ["10.0.0.14"], ["10.0.0.16/29", "10.0.0.24/29"]],
    [
      "not where a prefix is taken",
      handing(30),
      ["10.0.0.0/29", "10.0.0.12/30"],
      ["10.0.0.8/30", "10.0.0.16/30"],
    ],
    [
      "of IPv6, larger than can be counted",
      handing(80, { gateway: "fd00::1" }, "fd00::/64"),
      ["fd00::1:0:0:7"],
      ["fd00::2:0:0:0/80", "fd00::3:0:0:0/80"],
    ],
  ] as const)("gives whole ones, aligned: %s", (_, config, taken, expected) => {
    expect(blocks(config, 2, taken)).toEqual(expected);
  });

  it("tells the CPI the first address and the prefix, with the netmask of the subnet", () => {
    const [one] = planned(input({ cloudConfig: handing(28), manifest: manifest([group("web", 1)]) })).desired;
    expect(one?.networks.private).toMatchObject({
      ip: "10.0.0.16",
      prefix: "28",
      netmask: "255.255.255.192",
    });
  });

  it("has no more of them at some time", () => {
    const [problem] = refused(input({ cloudConfig: handing(28), manifest: manifest([group("web", 3)]) }));
    expect(problem?.problem).toContain("no more available");
  });

  it("leaves single addresses alone that are elsewhere, and single ones leave prefixes alone", () => {
    expect(
      blocks(cloud({ networks: [manual("private", subnet("10.0.0.0/26"))] }), 1, ["10.0.0.0/29"]),
    ).toEqual(["10.0.0.8"]);
  });

  it("is kept by who has one, and given up for one of another size", () => {
    const web = manifest([group("web", 1)]);
    const world = deployed({ manifest: web, cloudConfig: handing(29) });
    const held = (made: Pick<Plan, "desired">) =>
      made.desired.flatMap(({ ips }) => ips.map(({ address }) => address));
    const same = next(world, { manifest: web, cloudConfig: handing(29) });
    expect([held(same), updatesOf(same)]).toEqual([["10.0.0.8/29"], []]);
    const larger = next(world, { manifest: web, cloudConfig: handing(28) });
    expect([held(larger), updatesOf(larger)]).toEqual([["10.0.0.16/28"], [expect.anything()]]);
  });

  it("gives those that a group names", () => {
    const web = group("web", 1, { networks: [on("private", "10.0.0.32")] });
    const given = handing(28, { static: ranges("10.0.0.32/28") });
    const [one] = planned(input({ cloudConfig: given, manifest: manifest([web]) })).desired;
    expect(one?.ips).toEqual([{ address: "10.0.0.32/28", network: "private", static: true }]);
  });
});

describe("a static address in a subnet that hands out prefixes", () => {
  it("is the first one of a prefix", () => {
    const given = handing(28, { static: ranges("10.0.0.32/28") });
    const problems = (ip: string) =>
      referenceProblems(manifest([group("web", 1, { networks: [on("private", ip)] })]), given).map(
        ({ code }) => code,
      );
    expect(problems("10.0.0.32")).toEqual([]);
    expect(problems("10.0.0.33")).toEqual([16015]);
    expect(problems("10.0.0.16")).toEqual([130009]);
  });
});

describe("the prefix of a subnet", () => {
  const config = (...subnets: readonly object[]) => ({
    networks: [{ name: "private", subnets }],
    compilation: { workers: 1, network: "private" },
  });
  const problems = (...subnets: readonly object[]) => {
    const parsed = parseCloudConfig([config(...subnets)]);
    return parsed.ok ? [] : parsed.problems.map(({ code, problem }) => [code, problem]);
  };
  const one = { range: "10.0.0.0/24", gateway: "10.0.0.1" };
  const two = { range: "10.0.1.0/24", gateway: "10.0.1.1" };

  it("is one of the range, the same in all subnets", () => {
    expect(problems({ ...one, prefix: 28 }, { ...two, prefix: "28" })).toEqual([]);
    expect(problems({ ...one, prefix: 32 }, two)).toEqual([]);
    expect(problems({ ...one, prefix: 16 })).toEqual([
      [16013, "Prefix size '16' is larger than range prefix '24'"],
    ]);
    expect(problems({ ...one, prefix: 28 }, two)).toEqual([
      [16014, "Network 'private' has subnets that define different prefixes"],
    ]);
    for (const prefix of [33, 0, "x", {}])
      expect(problems({ ...one, prefix })).toEqual([[160008, expect.stringContaining("is no prefix")]]);
  });

  it("is rejected for dynamic networks", () => {
    const dynamic = { networks: [{ name: "private", type: "dynamic", subnets: [{ prefix: 28 }] }] };
    const parsed = parseCloudConfig([{ ...dynamic, compilation: { workers: 1, network: "private" } }]);
    expect(parsed).toMatchObject({
      problems: [{ code: 160008, problem: "Prefix property is not supported for dynamic networks." }],
    });
  });
});
