import type { Networks } from "@slipway/protocol/settings/networks";
import { describe, expect, it } from "vitest";
import {
  addressInCidr,
  defaultNetwork,
  interfaceNetworks,
  macAddress,
  macFor,
  nameServers,
  preconfigured,
  subnetOf,
  withDefaultNameServers,
  withMacs,
  withRoutes,
} from "./networks.ts";

const back = { type: "manual", ip: "10.0.1.5", netmask: "255.255.255.0", gateway: "10.0.1.1" } as const;
const front = { ...back, ip: "10.0.2.5", default: ["dns", "gateway"], dns: ["10.0.0.2", "10.0.0.3"] };
const vip = { type: "vip", ip: "203.0.113.7" } as const;
const ALL: Networks = { vip, back, front };

describe("networks of a VM", () => {
  it("have interfaces unless they are vips", () => {
    expect(interfaceNetworks(ALL).map(([name]) => name)).toEqual(["back", "front"]);
    expect(preconfigured(ALL)).toEqual({
      vip,
      back: { ...back, preconfigured: true },
      front: { ...front, preconfigured: true },
    });
  });

  it.each([
    ["the one that says so", ALL, "front"],
    ["the first if none says so", { vip, back, other: { ...back, ip: "10.0.3.5" } }, "back"],
    ["none if there are only vips", { vip }, undefined],
  ] as const)("have as default network %s", (_, networks, name) => {
    expect(defaultNetwork(networks, "gateway")).toBe(name);
    expect(defaultNetwork(networks, "dns")).toBe(name);
  });

  it("have the name servers of the default network, or of all networks, each once", () => {
    const named = { ...back, dns: ["10.0.1.2", "10.0.0.2"] };
    expect(nameServers({ named, front })).toEqual(["10.0.0.2", "10.0.0.3"]);
    expect(nameServers({ named, front: { ...front, default: ["gateway"] } })).toEqual([
      "10.0.1.2",
      "10.0.0.2",
      "10.0.0.3",
    ]);
  });

  it("get default name servers only if they have none", () => {
    expect(withDefaultNameServers(ALL, ["1.1.1.1"])).toBe(ALL);
    const without = { back, front: { ...front, dns: [] } };
    expect(withDefaultNameServers(without, ["1.1.1.1"])).toEqual({
      back,
      front: { ...front, dns: ["1.1.1.1"] },
    });
  });

  it("have an address and a subnet in CIDR notation", () => {
    const edge = { ip: "10.1.2.77", netmask: "255.255.255.192" };
    expect([addressInCidr(edge), subnetOf(edge)]).toEqual(["10.1.2.77/26", "10.1.2.64/26"]);
    const six = { ip: "fd00::77", netmask: "ffff:ffff:ffff:ffff::" };
    expect([addressInCidr(six), subnetOf(six)]).toEqual(["fd00::77/64", "fd00::/64"]);
    expect(addressInCidr({ ip: "10.0.0.1", netmask: "0.0.0.0" })).toBe("10.0.0.1/0");
    for (const none of [{}, { ip: "10.0.0.1" }, { ip: "10.0.0.1", netmask: "255.0.255.0" }])
      expect([addressInCidr(none), subnetOf(none)]).toEqual([undefined, undefined]);
  });
});

describe("MAC addresses", () => {
  it("are written as the agent compares them, whatever the cloud's spelling", () => {
    for (const text of ["02:00:0A:BB:CC:DD", "02-00-0a-bb-cc-dd", "0200.0abb.ccdd"])
      expect(macAddress(text)).toBe("02:00:0a:bb:cc:dd");
    expect(() => macAddress("02:00:0a:bb:cc")).toThrow("not a MAC address");
  });

  it("made of a text are stable, local, and of one interface", () => {
    expect(macFor("vm-1/front")).toBe(macFor("vm-1/front"));
    expect(macFor("vm-1/front")).not.toBe(macFor("vm-1/back"));
    for (let at = 0; at < 100; at++) expect(macFor(`${at}`)).toMatch(/^.[26ae](:[0-9a-f]{2}){5}$/);
  });

  it("are given to networks by name, and not to a vip or a network that is not there", () => {
    expect(withMacs(ALL, { front: "02-00-0A-BB-CC-DD" })).toEqual({
      ...ALL,
      front: { ...front, mac: "02:00:0a:bb:cc:dd" },
    });
    expect(() => withMacs(ALL, { vip: macFor("x") })).toThrow("no network 'vip' with an interface");
    expect(() => withMacs(ALL, { none: macFor("x") })).toThrow("no network 'none'");
  });
});

describe("routes", () => {
  it("are added in the words of the agent, behind those that are there", () => {
    const once = withRoutes(ALL, "back", [{ destination: "10.9.0.0/16", gateway: "10.0.1.254" }]);
    const twice = withRoutes(once, "back", [{ destination: "fd00:9::/64", gateway: "fd00::1" }]);
    expect(twice.back?.routes).toEqual([
      { Destination: "10.9.0.0", Gateway: "10.0.1.254", Netmask: "255.255.0.0" },
      {
        Destination: "fd00:9::",
        Gateway: "fd00::1",
        Netmask: "ffff:ffff:ffff:ffff:0000:0000:0000:0000",
      },
    ]);
    expect({ ...twice, back }).toEqual(ALL);
  });

  it.each([
    ["none", "10.9.0.0/16", "10.0.1.1", "no network 'none'"],
    ["back", "10.9.0.0", "10.0.1.1", "not a range"],
    ["back", "10.9.0.0/33", "10.0.1.1", "not a range"],
    ["back", "10.9.0.0/16", "fd00::1", "not a gateway"],
  ])("in network %s to %s by %s are refused", (name, destination, gateway, reason) => {
    expect(() => withRoutes(ALL, name, [{ destination, gateway }])).toThrow(reason);
  });
});
