import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { describe, expect, it } from "vitest";
import { networkDifferences } from "../model/network-differences.ts";
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

const config = cloud({
  networks: [
    manual(
      "private",
      subnet("10.4.0.0/20", { dns: ["10.4.0.2"], azs: ["z1"], cloudProperties: { name: "vnet" } }),
    ),
    manual("six", subnet("fd00:5::/64", { gateway: "fd00:5::1", dns: ["fd00:5::2"], azs: ["z1"] })),
    manual("lonely", subnet("10.5.0.0/24", { gateway: undefined, dns: [], azs: ["z1"] })),
    {
      type: "dynamic",
      name: "given",
      subnets: [
        { azs: ["z2"], dns: ["10.1.1.1"], cloudProperties: { subnet: "b" } },
        { azs: ["z1"], dns: ["10.1.1.2"], cloudProperties: { subnet: "a" } },
      ],
    },
    {
      type: "vip",
      name: "floating",
      cloudProperties: { pool: "x" },
      subnets: [{ azs: undefined, static: ranges("192.0.2.10-192.0.2.11") }],
    },
  ],
});

describe("a network in the form for CPI and agent", () => {
  it("is as upstream writes it for each type", () => {
    const networks = [
      { name: "private", staticIps: [], default: ["gateway", "dns"] },
      { name: "six", staticIps: [], default: [], nicGroup: "1" },
      ...["lonely", "given", "floating"].map((name) => ({ name, staticIps: [], default: [] })),
    ];
    const made = planned(
      input({ cloudConfig: config, manifest: manifest([group("web", 1, { azs: ["z1"], networks })]) }),
    );
    expect(made.desired[0]?.networks).toEqual({
      private: {
        type: "manual",
        ip: "10.4.0.2",
        prefix: "32",
        netmask: "255.255.240.0",
        gateway: "10.4.0.1",
        dns: ["10.4.0.2"],
        default: ["dns", "gateway"],
        cloud_properties: { name: "vnet" },
      },
      six: {
        type: "manual",
        ip: "fd00:5::2",
        prefix: "128",
        netmask: "ffff:ffff:ffff:ffff:0000:0000:0000:0000",
        gateway: "fd00:5::1",
        dns: ["fd00:5::2"],
        nic_group: "1",
        cloud_properties: {},
      },
      lonely: {
        type: "manual",
        ip: "10.5.0.1",
        prefix: "32",
        netmask: "255.255.255.0",
        dns: [],
        cloud_properties: {},
      },
      given: { type: "dynamic", prefix: "32", dns: ["10.1.1.2"], cloud_properties: { subnet: "a" } },
      floating: { type: "vip", ip: "192.0.2.10", prefix: "32", cloud_properties: { pool: "x" } },
    });
    expect(made.desired[0]?.ips.map(({ network }) => network)).toEqual([
      "private",
      "six",
      "lonely",
      "floating",
    ]);
  });

  it("uses the zone's subnet of a dynamic network, and the first one without zones", () => {
    const given = (azs: readonly string[] | undefined) =>
      planned(
        input({
          cloudConfig: config,
          manifest: manifest([group("web", 2, { azs, networks: [on("given")] })]),
        }),
      ).desired.map(({ networks, ips }) => [networks.given?.cloud_properties, networks.given?.default, ips]);
    expect(given(["z1", "z2"])).toEqual([
      [{ subnet: "a" }, ["dns", "gateway"], []],
      [{ subnet: "b" }, ["dns", "gateway"], []],
    ]);
    expect(given(undefined)).toEqual(Array(2).fill([{ subnet: "b" }, ["dns", "gateway"], []]));
  });

  describe("networks of floating addresses", () => {
    const vips = (...ips: string[]) =>
      manifest([
        group("web", ips.length, {
          azs: ["z1"],
          networks: [on("given"), { ...on("floating", ...ips), default: [] }],
        }),
      ]);
    const listed = (...ips: string[]) => ({ cloudConfig: config, manifest: vips(...ips) });
    const addresses = ({ desired }: Plan) => desired.map(({ index, ips: [ip] }) => [index, ip?.address]);

    it("gives them as listed", () => {
      const made = planned(input(listed("203.0.113.7", "203.0.113.6")));
      expect(made.desired.map(({ ips }) => ips)).toEqual([
        [{ address: "203.0.113.7", network: "floating", static: true }],
        [{ address: "203.0.113.6", network: "floating", static: true }],
      ]);
    });

    it("leaves each address to its holder, in whatever order they are listed", () => {
      const world = deployed(listed("203.0.113.7", "203.0.113.6"));
      const made = next(world, listed("203.0.113.5", "203.0.113.6", "203.0.113.7"));
      expect(addresses(made)).toEqual([
        [0, "203.0.113.7"],
        [1, "203.0.113.6"],
        [2, "203.0.113.5"],
      ]);
      expect(updatesOf(made).map(({ action }) => action)).toEqual(["create"]);
    });

    it("recreates the VM whose address has changed", () => {
      const world = deployed(listed("203.0.113.7", "203.0.113.6"));
      const [only, ...more] = updatesOf(next(world, listed("203.0.113.7", "203.0.113.9")));
      expect([only?.action, only?.changes.map(({ reason }) => reason), more]).toEqual([
        "recreate",
        ["network 'floating': ip 203.0.113.6 -> 203.0.113.9"],
        [],
      ]);
    });

    it("refuses one that another deployment has, and more than the network has to give", () => {
      const takenIps = new Map([["203.0.113.7", "instance 'x/1' from deployment 'other'"]]);
      expect(refused(input({ ...listed("203.0.113.7"), takenIps }))).toMatchObject([
        {
          code: 130008,
          problem:
            "Failed to reserve IP '203.0.113.7' for instance 'web/u000001 (0)': already reserved by instance 'x/1' from deployment 'other'",
        },
      ]);
      const networks = [on("given"), { ...on("floating"), default: [] }];
      const three = manifest([group("web", 3, { azs: ["z1"], networks })]);
      expect(refused(input({ cloudConfig: config, manifest: three }))).toMatchObject([
        {
          code: 130011,
          problem: "Failed to reserve IP for 'web/u000003 (2)' for vip network 'floating': no more available",
        },
      ]);
    });
  });
});

describe("the difference between networks", () => {
  const a: Network = { type: "manual", ip: "10.0.0.2", dns: ["1.1.1.1"], cloud_properties: { x: 1, y: 2 } };
  const cases: readonly (readonly [string, Networks, readonly string[]])[] = [
    ["none", { a }, []],
    [
      "the order of keys",
      { a: { cloud_properties: { y: 2, x: 1 }, dns: ["1.1.1.1"], ip: "10.0.0.2", type: "manual" } },
      [],
    ],
    ["an address", { a: { ...a, ip: "10.0.0.3" } }, ["network 'a': ip 10.0.0.2 -> 10.0.0.3"]],
    ["dns", { a: { ...a, dns: ["1.1.1.2"] } }, ["network 'a': dns changed"]],
    ["properties", { a: { ...a, cloud_properties: { x: 1 } } }, ["network 'a': cloud_properties changed"]],
    ["a gateway", { a: { ...a, gateway: "10.0.0.1" } }, ["network 'a': gateway changed"]],
    ["another network", { b: a }, ["network 'a' dropped", "network 'b' added"]],
  ];
  it.each(cases)("is reported: %s", (_, wanted, expected) => {
    expect(networkDifferences({ a }, wanted)).toEqual(expected);
  });

  it("does not count what the cloud or the agent added", () => {
    expect(networkDifferences({ a: { ...a, mac: "00:11", resolved: true } }, { a })).toEqual([]);
    const learned: Networks = {
      a: { type: "dynamic", ip: "10.0.0.2", netmask: "255.0.0.0", gateway: "10.0.0.1", dns: [] },
    };
    expect(networkDifferences(learned, { a: { type: "dynamic", dns: [] } })).toEqual([]);
    expect(networkDifferences(learned, { a: { type: "dynamic", dns: ["1.1.1.1"] } })).toEqual([
      "network 'a': dns changed",
    ]);
  });
});
