import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { describe, expect, it } from "vitest";
import { InvalidNetwork, NoDeviceForNetwork } from "../../system-errors.ts";
import { type DhcpInterface, type MachineInterface, planNetworks, type StaticInterface } from "./plan.ts";

const eth0: MachineInterface = { name: "eth0", mac: "aa:bb:cc:00:00:01" };
const eth1: MachineInterface = { name: "eth1", mac: "aa:bb:cc:00:00:02" };

const manual = (more: Partial<Network> = {}): Network => ({
  type: "manual",
  ip: "10.0.0.5",
  netmask: "255.255.255.0",
  gateway: "10.0.0.1",
  ...more,
});

const staticOn = (nic: MachineInterface, more: Partial<StaticInterface> = {}): StaticInterface => ({
  kind: "static",
  network: "a",
  interface: nic.name,
  mac: nic.mac,
  family: 4,
  address: "10.0.0.5",
  prefix: 24,
  gateway: undefined,
  gatewayOnLink: false,
  alias: undefined,
  routes: [],
  ...more,
});

const dhcpOn = (nic: MachineInterface, more: Partial<DhcpInterface> = {}): DhcpInterface => ({
  kind: "dhcp",
  networks: [],
  interface: nic.name,
  mac: nic.mac,
  ipv6: false,
  usesRoutes: true,
  routes: [],
  ...more,
});

const withGateway = { gateway: "10.0.0.1" };

const cases: readonly {
  readonly rule: string;
  readonly networks: Networks;
  readonly machine: readonly MachineInterface[];
  readonly interfaces: readonly (StaticInterface | DhcpInterface)[];
}[] = [
  {
    rule: "the sole network without a MAC and the sole NIC are paired; it is the default for everything",
    networks: { a: manual() },
    machine: [eth0],
    interfaces: [staticOn(eth0, withGateway)],
  },
  {
    rule: "a vip network is never configured, nor counted",
    networks: { a: manual(), v: { type: "vip", ip: "1.2.3.4" } },
    machine: [eth0],
    interfaces: [staticOn(eth0, withGateway)],
  },
  {
    rule: "a network with no type is a manual one",
    networks: { a: { ip: "10.0.0.5", netmask: "255.255.255.0" } },
    machine: [eth0],
    interfaces: [staticOn(eth0)],
  },
  ...[
    ["type dynamic", { type: "dynamic" as const }],
    ["use_dhcp", { use_dhcp: true }],
    ["resolved", { resolved: true }],
    ["a missing ip", { ip: "" }],
    ["a missing netmask", { netmask: "" }],
  ].map(([what, more]) => ({
    rule: `${what} means DHCP`,
    networks: { a: manual(more as Partial<Network>) },
    machine: [eth0],
    interfaces: [dhcpOn(eth0, { networks: ["a"] })],
  })),
  {
    rule: "several networks find their NICs by MAC, in any spelling; only the default for it has a gateway",
    networks: {
      a: manual({ mac: "AA:BB:CC:00:00:02", default: ["dns", "gateway"] }),
      b: manual({ ip: "10.1.0.5", gateway: "10.1.0.1", mac: eth0.mac }),
    },
    machine: [eth0, eth1],
    interfaces: [staticOn(eth0, { network: "b", address: "10.1.0.5" }), staticOn(eth1, withGateway)],
  },
  {
    rule: "a static network without a MAC is not configured among several NICs, which fall back to DHCP",
    networks: { a: manual() },
    machine: [eth0, eth1],
    interfaces: [dhcpOn(eth0), dhcpOn(eth1)],
  },
  {
    rule: "several static networks without a MAC are not configured on a sole NIC",
    networks: { a: manual(), b: manual({ ip: "10.1.0.5" }) },
    machine: [eth0],
    interfaces: [dhcpOn(eth0)],
  },
  {
    rule: "a NIC that nobody claims gets DHCP, but not its routes when there is a gateway elsewhere",
    networks: { a: manual({ mac: eth0.mac }) },
    machine: [eth0, eth1],
    interfaces: [staticOn(eth0, withGateway), dhcpOn(eth1, { usesRoutes: false })],
  },
  {
    rule: "of two dynamic networks only the default for the gateway takes routes",
    networks: {
      a: { type: "dynamic", mac: eth0.mac },
      b: { type: "dynamic", mac: eth1.mac, default: ["gateway"] },
    },
    machine: [eth0, eth1],
    interfaces: [dhcpOn(eth0, { networks: ["a"], usesRoutes: false }), dhcpOn(eth1, { networks: ["b"] })],
  },
  {
    rule: "an alias labels a second address of its interface",
    networks: {
      a: manual({ mac: eth0.mac, default: ["gateway"] }),
      b: manual({ ip: "10.0.0.6", alias: "eth0:1" }),
    },
    machine: [eth0],
    interfaces: [
      staticOn(eth0, withGateway),
      staticOn(eth0, { network: "b", address: "10.0.0.6", alias: "eth0:1" }),
    ],
  },
  {
    rule: "an interface that has only a labelled address still gets DHCP",
    networks: { a: manual({ alias: "eth0:1" }), b: manual({ mac: eth1.mac, ip: "10.1.0.5" }) },
    machine: [eth0, eth1],
    interfaces: [
      staticOn(eth0, { alias: "eth0:1" }),
      dhcpOn(eth0),
      staticOn(eth1, { network: "b", address: "10.1.0.5" }),
    ],
  },
  {
    rule: "an alias without a label names the interface itself, also one that is no NIC",
    networks: { a: manual({ alias: "eth0" }), b: manual({ alias: "br7", ip: "10.1.0.5" }) },
    machine: [eth0],
    interfaces: [
      staticOn({ name: "br7", mac: "" }, { network: "b", address: "10.1.0.5", mac: undefined }),
      staticOn(eth0),
    ],
  },
  {
    rule: "two networks of one NIC share it, IPv6 with a gateway of its own",
    networks: {
      a: manual({ mac: eth0.mac, default: ["gateway"] }),
      b: {
        ip: "2001:db8:0::5",
        netmask: "ffff:ffff:ffff:ffff::",
        gateway: "fe80::1",
        mac: eth0.mac,
        default: ["gateway"],
      },
    },
    machine: [eth0],
    interfaces: [
      staticOn(eth0, withGateway),
      staticOn(eth0, { network: "b", family: 6, address: "2001:db8::5", prefix: 64, gateway: "fe80::1" }),
    ],
  },
  {
    rule: "two dynamic networks of one NIC are one DHCP, with IPv6 when one asks for it",
    networks: {
      a: { type: "dynamic", mac: eth0.mac },
      b: { type: "dynamic", mac: eth0.mac, ip: "2001:db8::9" },
    },
    machine: [eth0],
    interfaces: [dhcpOn(eth0, { networks: ["a", "b"], ipv6: true })],
  },
  {
    rule: "a gateway outside the network is marked as on the link",
    networks: { a: manual({ netmask: "255.255.255.255" }) },
    machine: [eth0],
    interfaces: [staticOn(eth0, { ...withGateway, prefix: 32, gatewayOnLink: true })],
  },
  {
    rule: "routes go to networks: their host bits are cleared",
    networks: {
      a: manual({ routes: [{ Destination: "10.9.1.2", Netmask: "255.255.0.0", Gateway: "10.0.0.9" }] }),
    },
    machine: [eth0],
    interfaces: [
      staticOn(eth0, {
        ...withGateway,
        routes: [{ destination: "10.9.0.0", prefix: 16, gateway: "10.0.0.9", onLink: false }],
      }),
    ],
  },
  {
    rule: "a route by a gateway outside the network is marked as on the link",
    networks: {
      a: manual({ routes: [{ Destination: "10.9.0.0", Netmask: "255.255.0.0", Gateway: "10.1.0.9" }] }),
    },
    machine: [eth0],
    interfaces: [
      staticOn(eth0, {
        ...withGateway,
        routes: [{ destination: "10.9.0.0", prefix: 16, gateway: "10.1.0.9", onLink: true }],
      }),
    ],
  },
  {
    rule: "one network that is not preconfigured makes all of them count",
    networks: { a: manual({ mac: eth0.mac, preconfigured: true }), b: { type: "dynamic", mac: eth1.mac } },
    machine: [eth0, eth1],
    interfaces: [staticOn(eth0), dhcpOn(eth1, { networks: ["b"] })],
  },
  {
    rule: "a machine without NICs has nothing to configure",
    networks: { a: manual() },
    machine: [],
    interfaces: [],
  },
];

describe("the network plan", () => {
  it.each(cases)("$rule", ({ networks, machine, interfaces }) => {
    expect(planNetworks(networks, machine).interfaces).toEqual(interfaces);
    // Neither the order of the settings nor that of the kernel matters.
    const turned = Object.fromEntries(Object.entries(networks).reverse());
    expect(planNetworks(turned, [...machine].reverse()).interfaces).toEqual(interfaces);
  });

  it("only sets DNS when the IaaS has configured every network that is not a vip", () => {
    const networks: Networks = {
      a: manual({ preconfigured: true, dns: ["10.0.0.2"] }),
      v: { type: "vip", ip: "1.2.3.4" },
    };
    expect(planNetworks(networks, [eth0])).toEqual({
      onlyDns: true,
      interfaces: [],
      dns: ["10.0.0.2"],
      notes: [],
    });
  });

  it("leaves a machine without networks alone", () => {
    expect(planNetworks({}, [eth0])).toEqual({ onlyDns: true, interfaces: [], dns: [], notes: [] });
  });

  it("says which network it did not configure, and why", () => {
    expect(planNetworks({ a: manual() }, [eth0, eth1]).notes).toEqual([
      "network 'a' is not configured: it names no MAC address and no alias",
    ]);
  });

  it.each([
    ["the sole network", { a: manual({ dns: ["10.0.0.2"] }) }, ["10.0.0.2"]],
    [
      "the network that is the default for it",
      { a: manual({ dns: ["10.0.0.2"] }), b: manual({ dns: ["10.0.0.3", "fd00::3"], default: ["dns"] }) },
      ["10.0.0.3", "fd00::3"],
    ],
    ["nowhere when none of several is the default", { a: manual({ dns: ["10.0.0.2"] }), b: manual() }, []],
    ["nowhere when the list is empty", { a: manual({ dns: [] }) }, []],
  ] as const)("takes DNS from %s", (_, networks, dns) => {
    expect(planNetworks(networks as Networks, [eth0]).dns).toEqual(dns);
  });

  it("leaves out a DNS server that is no address, and says so", () => {
    const plan = planNetworks({ a: manual({ dns: ["10.0.0.2\nsearch evil", "10.0.0.3"] }) }, [eth0]);
    expect(plan.dns).toEqual(["10.0.0.3"]);
    expect(plan.notes).toEqual([
      `a DNS server of network 'a' is left out: "10.0.0.2\\nsearch evil" is no address`,
    ]);
  });

  it("fails with upstream's words when no NIC has the MAC", () => {
    const failing = () => planNetworks({ n: manual({ mac: "aa:00:00:00:00:00" }) }, [eth0]);
    expect(failing).toThrow("No device found for network 'n' with MAC address 'aa:00:00:00:00:00'");
    expect(failing).toThrow(expect.toSatisfy(NoDeviceForNetwork.is));
  });

  it.each([
    ["an ip that is none", manual({ ip: "10.0.0.5\nGateway=6.6.6.6" }), /its ip "10.0.0.5\\nGateway/],
    ["a netmask with holes", manual({ netmask: "255.0.255.0" }), /the netmask "255.0.255.0"/],
    ["a netmask of the other family", manual({ netmask: "ffff::" }), /the netmask "ffff::"/],
    ["a gateway that is none", manual({ gateway: "gw" }), /its gateway "gw"/],
    ["a gateway of the other family", manual({ gateway: "fe80::1" }), /two families/],
    [
      "a route to nowhere",
      manual({ routes: [{ Destination: "x", Netmask: "255.0.0.0", Gateway: "10.0.0.9" }] }),
      /its route destination "x"/,
    ],
    ["an alias that is a pattern", manual({ alias: "*" }), /its alias "\*" is no interface name/],
    ["an alias that is an option", manual({ alias: "-x" }), /its alias/],
    ["an alias without an address", { type: "dynamic", alias: "eth0:1" } as Network, /no ip and netmask/],
  ])("refuses %s", (_, network, message) => {
    const failing = () => planNetworks({ a: network }, [eth0]);
    expect(failing).toThrow(message);
    expect(failing).toThrow(expect.toSatisfy(InvalidNetwork.is));
  });
});
