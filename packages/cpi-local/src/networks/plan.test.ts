import { describe, expect, it } from "vitest";
import { listenersOn } from "./listeners.ts";
import { isHostEnd, planNetworks } from "./plan.ts";

const manual = (ip: string, more = {}) => ({
  type: "manual" as const,
  ip,
  netmask: "255.255.255.0",
  gateway: ip.replace(/\d+$/, "1"),
  ...more,
});

describe("the networks of a sandbox", () => {
  it("addresses in 127.0.0.0/8 are the host's, for ordinary users too", () => {
    const vip = { type: "vip" as const, ip: "203.0.113.7" };
    const plan = planNetworks("vm-1", { a: manual("127.3.0.4"), pub: vip }, false);
    expect(plan).toMatchObject({
      ownNetwork: false,
      addresses: [{ network: "a", ip: "127.3.0.4" }],
      inside: [],
    });
    expect(plan.networks).toEqual({ a: { ...manual("127.3.0.4"), preconfigured: true }, pub: vip });
  });

  it("without an address get one, the same each time and another for another VM", () => {
    const dynamic = { a: { type: "dynamic" as const } };
    const address = (cid: string) => planNetworks(cid, dynamic, false).addresses[0]?.ip ?? "";
    expect(address("vm-1")).toMatch(/^127\.254\.\d+\.\d+$/);
    expect(address("vm-1")).toBe(address("vm-1"));
    expect(new Set(["vm-1", "vm-2", "vm-3"].map(address)).size).toBe(3);
  });

  it("other ranges are wires to the host, for root", () => {
    const networks = {
      back: manual("10.0.1.5"),
      front: manual("10.0.2.5", { default: ["gateway"], netmask: "255.255.255.192" }),
    };
    const { inside, outside, links, ownNetwork } = planNetworks("vm-1", networks, true);
    expect(ownNetwork).toBe(true);
    expect(links).toHaveLength(2);
    expect(links.every(isHostEnd)).toBe(true);
    expect(inside.join("\n").replaceAll(/sw-[0-9a-f]+/g, "WIRE")).toMatchInlineSnapshot(`
      "link set lo up
      link add eth0 type veth peer name WIRE netns /proc/self/fd/8
      addr add 10.0.1.5/32 dev eth0
      link set eth0 up
      route add 10.0.1.1/32 dev eth0 scope link src 10.0.1.5
      route add 10.0.1.0/24 via 10.0.1.1 dev eth0 src 10.0.1.5
      link add eth1 type veth peer name WIRE netns /proc/self/fd/8
      addr add 10.0.2.5/32 dev eth1
      link set eth1 up
      route add 10.0.2.1/32 dev eth1 scope link src 10.0.2.5
      route add 10.0.2.0/26 via 10.0.2.1 dev eth1 src 10.0.2.5
      route add default via 10.0.2.1 dev eth1 src 10.0.2.5"
    `);
    expect(outside.join("\n").replaceAll(/sw-[0-9a-f]+/g, "WIRE")).toMatchInlineSnapshot(`
      "addr add 10.0.1.1/32 dev WIRE
      link set WIRE up
      route add 10.0.1.5/32 dev WIRE src 10.0.1.1
      addr add 10.0.2.1/32 dev WIRE
      link set WIRE up
      route add 10.0.2.5/32 dev WIRE src 10.0.2.1"
    `);
  });

  it("IPv6 networks are wires, too, beside those of IPv4", () => {
    const six = {
      type: "manual" as const,
      ip: "fd00:6::5",
      netmask: "ffff:ffff:ffff:ffff:0000:0000:0000:0000",
      gateway: "fd00:6::1",
    };
    const networks = { four: manual("10.0.1.5", { default: ["gateway"] }), six };
    const { inside, outside } = planNetworks("vm-1", networks, true);
    expect(inside.slice(7).map((line) => line.replace(/sw-[0-9a-f]+/, "WIRE"))).toEqual([
      "link add eth1 type veth peer name WIRE netns /proc/self/fd/8",
      "addr add fd00:6::5/128 dev eth1 nodad",
      "link set eth1 up",
      "route add fd00:6::1/128 dev eth1 scope link src fd00:6::5",
      "route add fd00:6::/64 via fd00:6::1 dev eth1 src fd00:6::5",
    ]);
    expect(outside.slice(3).map((line) => line.replace(/sw-[0-9a-f]+/, "WIRE"))).toEqual([
      "addr add fd00:6::1/128 dev WIRE nodad",
      "link set WIRE up",
      "route add fd00:6::5/128 dev WIRE src fd00:6::1",
    ]);
    expect(() => planNetworks("vm-1", { a: { ...six, gateway: "10.0.0.1" } }, true)).toThrow("other family");
    expect(() => planNetworks("vm-1", { a: six }, false)).toThrow("only root");
  });

  it.each([
    ["of other ranges", { a: manual("10.0.0.5") }, false, "only root"],
    ["of both kinds", { a: manual("10.0.0.5"), b: manual("127.3.0.4") }, true, "either all of 127.0.0.0/8"],
    ["with a text for an address", { a: manual("10.0.0.5\nlink del eth0") }, true, "no address"],
    ["with a number too large", { a: manual("127.0.0.256") }, false, "no address"],
    [
      "without a gateway",
      { a: manual("10.0.0.5", { gateway: undefined }) },
      true,
      "needs a netmask and a gateway",
    ],
    ["with a gateway of its own", { a: manual("10.0.0.5", { gateway: "10.0.0.5" }) }, true, "the gateway's"],
    ["with a text for a gateway", { a: manual("10.0.0.5", { gateway: "x y" }) }, true, "no address"],
    [
      "with a netmask that has holes",
      { a: manual("10.0.0.5", { netmask: "255.0.255.0" }) },
      true,
      "needs a netmask",
    ],
  ] as const)("%s are refused with a reason", (_, networks, isRoot, reason) => {
    expect(() => planNetworks("vm-1", networks, isRoot)).toThrow(reason);
  });
});

describe("the table of listeners", () => {
  const line = (address: string, state = "0A") =>
    `   0: ${address}:1AD4 00000000:0000 ${state} 00000000:00000000`;
  it.each([
    ["there", line("0200037F"), true],
    ["everywhere", line("00000000"), true],
    ["everywhere, in IPv6", line("00000000000000000000000000000000"), true],
    ["there, in IPv6", line("0000000000000000FFFF00000200037F"), true],
    ["elsewhere", line("0100007F"), false],
    ["as a connection", line("0200037F", "01"), false],
    ["at another port", line("0200037F").replace("1AD4", "1AD5"), false],
  ])("has one %s", (_, table, has) => {
    expect(listenersOn(`  sl  local_address rem_address   st\n${table}\n`, "127.3.0.2", 6868)).toBe(has);
  });
});
