import {
  formatAddress,
  type IpAddress,
  maskToPrefix,
  networkOf,
  parseAddress,
  sameAddress,
} from "@slipway/kernel/ip-address";
import { type Network, type Networks, usesDhcp } from "@slipway/protocol/settings/networks";
import { InvalidNetwork, NoDeviceForNetwork } from "../../system-errors.ts";

export interface MachineInterface {
  readonly name: string;
  readonly mac: string;
}

export interface PlannedRoute {
  readonly destination: string;
  readonly prefix: number;
  readonly gateway: string;
  /** True if the gateway lies outside the network, see `gatewayOnLink`. */
  readonly onLink: boolean;
}

export interface StaticInterface {
  readonly kind: "static";
  readonly network: string;
  readonly interface: string;
  /** Undefined when an alias names an interface that is not among the machine's NICs. */
  readonly mac: string | undefined;
  readonly family: 4 | 6;
  readonly address: string;
  readonly prefix: number;
  /** Only on a network that is the default for it. */
  readonly gateway: string | undefined;
  /** The gateway lies outside the network, as with a /32: the kernel must treat it as reachable. */
  readonly gatewayOnLink: boolean;
  /** Label of the address, such as `eth0:1`. */
  readonly alias: string | undefined;
  readonly routes: readonly PlannedRoute[];
}

export interface DhcpInterface {
  readonly kind: "dhcp";
  /** Empty for a NIC that no network claims. */
  readonly networks: readonly string[];
  readonly interface: string;
  readonly mac: string;
  readonly ipv6: boolean;
  /** True if routes from DHCP are used: not if another network is the default for the gateway. */
  readonly usesRoutes: boolean;
  readonly routes: readonly PlannedRoute[];
}

export type InterfaceConfiguration = StaticInterface | DhcpInterface;

export interface InterfacePlan {
  /** The IaaS has set up everything: interfaces are left alone. */
  readonly onlyDns: boolean;
  /** Configurations by interface. An interface may have several. */
  readonly interfaces: readonly InterfaceConfiguration[];
  readonly dns: readonly string[];
  /** Parts that were left out, for the log. */
  readonly notes: readonly string[];
}

type Named = readonly [name: string, network: Network];

interface Claim {
  readonly name: string;
  readonly network: Network;
  readonly interface: string;
  readonly mac: string | undefined;
}

/** Plans the configuration of each interface. Rules of `agent-protocol.md` 4.3; they do not depend on key order. */
export function planNetworks(networks: Networks, machine: readonly MachineInterface[]): InterfacePlan {
  const named = Object.entries(networks)
    .filter(([, network]) => network.type !== "vip")
    .sort(([a], [b]) => compare(a, b));
  const { dns, notes } = chooseDns(named);
  if (named.every(([, network]) => network.preconfigured === true)) {
    return { onlyDns: true, interfaces: [], dns, notes };
  }
  const nics = [...machine].sort((a, b) => compare(a.name, b.name));
  const claims = claimInterfaces(named, nics, notes);
  const isDefault = (network: Network) => named.length === 1 || isDefaultFor(network, "gateway");
  const statics = claims
    .filter(({ network }) => !isDhcp(network))
    .map((claim) => planStatic(claim, isDefault(claim.network)));
  return {
    onlyDns: false,
    interfaces: [...statics, ...planDhcp(claims, nics, statics, isDefault)].sort(byName),
    dns,
    notes,
  };
}

/** An alias is a second address of an interface, which no DHCP gives. */
const isDhcp = (network: Network): boolean => !network.alias && usesDhcp(network);

function claimInterfaces(
  named: readonly Named[],
  nics: readonly MachineInterface[],
  notes: string[],
): Claim[] {
  const [first] = named;
  const [nic] = nics;
  if (named.length === 1 && nics.length === 1 && first && nic && !first[1].mac) {
    return [{ name: first[0], network: first[1], interface: nic.name, mac: nic.mac }];
  }
  return named.flatMap(([name, network]): Claim[] => {
    if (network.mac) return [claimByMac(name, network, network.mac, nics)];
    if (network.alias) return [claimByAlias(name, network, network.alias, nics)];
    if (!isDhcp(network))
      notes.push(`network '${name}' is not configured: it names no MAC address and no alias`);
    return [];
  });
}

function claimByMac(name: string, network: Network, mac: string, nics: readonly MachineInterface[]): Claim {
  const nic = nics.find((candidate) => candidate.mac.toLowerCase() === mac.toLowerCase());
  if (nic === undefined) throw NoDeviceForNetwork({ network: name, mac });
  return { name, network, interface: nic.name, mac: nic.mac };
}

function claimByAlias(
  name: string,
  network: Network,
  alias: string,
  nics: readonly MachineInterface[],
): Claim {
  const [device = ""] = alias.split(":");
  return { name, network, interface: device, mac: nics.find((nic) => nic.name === device)?.mac };
}

function planStatic({ name, network, interface: device, mac }: Claim, isDefault: boolean): StaticInterface {
  const refuse = (why: string) => InvalidNetwork({ network: name, why });
  const alias = network.alias || undefined;
  if (alias !== undefined) checkAlias(alias, refuse);
  if (!network.ip || !network.netmask) throw refuse("it has an alias, but no ip and netmask");
  const ip = addressOf(network.ip, "ip", refuse);
  const prefix = prefixOf(network.netmask, ip.family, refuse);
  const gateway = isDefault && network.gateway ? addressOf(network.gateway, "gateway", refuse) : undefined;
  if (gateway !== undefined && gateway.family !== ip.family)
    throw refuse("ip and gateway are of two families");
  const isNear = (other: IpAddress) =>
    isLinkLocal(other) || sameAddress(networkOf(other, prefix), networkOf(ip, prefix));
  return {
    kind: "static",
    network: name,
    interface: device,
    mac,
    family: ip.family,
    address: formatAddress(ip),
    prefix,
    gateway: gateway && formatAddress(gateway),
    gatewayOnLink: gateway !== undefined && !isNear(gateway),
    // Where the network got the interface by other means, the alias only counts if it labels that interface.
    alias: alias?.startsWith(`${device}:`) ? alias : undefined,
    routes: planRoutes(network, isNear, refuse),
  };
}

function planDhcp(
  claims: readonly Claim[],
  nics: readonly MachineInterface[],
  statics: readonly StaticInterface[],
  isDefault: (network: Network) => boolean,
): DhcpInterface[] {
  const dynamic = claims.filter(({ network }) => isDhcp(network));
  const someDefault =
    statics.some(({ gateway }) => gateway !== undefined) || dynamic.some(({ network }) => isDefault(network));
  // An address with a label is an addition: the interface itself is still free.
  const taken = new Set(statics.filter(({ alias }) => alias === undefined).map((config) => config.interface));
  return nics
    .filter((nic) => dynamic.some((claim) => claim.interface === nic.name) || !taken.has(nic.name))
    .map((nic): DhcpInterface => {
      const own = dynamic.filter((claim) => claim.interface === nic.name);
      return {
        kind: "dhcp",
        networks: own.map(({ name }) => name),
        interface: nic.name,
        mac: nic.mac,
        ipv6: own.some(({ network }) => parseAddress(network.ip ?? "")?.family === 6),
        usesRoutes: !someDefault || own.some(({ network }) => isDefault(network)),
        // What is near shows only with the lease.
        routes: own.flatMap(({ name, network }) =>
          planRoutes(
            network,
            () => true,
            (why) => InvalidNetwork({ network: name, why }),
          ),
        ),
      };
    });
}

type Refuse = (why: string) => Error;

function planRoutes(
  network: Network,
  isNear: (gateway: IpAddress) => boolean,
  refuse: Refuse,
): PlannedRoute[] {
  return (network.routes ?? []).map((route) => {
    const destination = addressOf(route.Destination, "route destination", refuse);
    const gateway = addressOf(route.Gateway, "route gateway", refuse);
    if (gateway.family !== destination.family) throw refuse("a route and its gateway are of two families");
    const prefix = prefixOf(route.Netmask, destination.family, refuse);
    return {
      destination: formatAddress(networkOf(destination, prefix)),
      prefix,
      gateway: formatAddress(gateway),
      onLink: !isNear(gateway),
    };
  });
}

/** The sole network is the default for everything. A DNS server that is no address is left out, not fatal. */
function chooseDns(named: readonly Named[]): { dns: string[]; notes: string[] } {
  const chosen = named.length === 1 ? named[0] : named.find(([, network]) => isDefaultFor(network, "dns"));
  const given = chosen?.[1].dns ?? [];
  const bad = given.filter((server) => parseAddress(server) === undefined);
  return {
    dns: given.filter((server) => !bad.includes(server)),
    notes: bad.map(
      (server) => `a DNS server of network '${chosen?.[0]}' is left out: ${quoted(server)} is no address`,
    ),
  };
}

const isDefaultFor = (network: Network, what: "dns" | "gateway") => network.default?.includes(what) === true;

function addressOf(text: string, what: string, refuse: Refuse): IpAddress {
  const address = parseAddress(text);
  if (address === undefined) throw refuse(`its ${what} ${quoted(text)} is no IP address`);
  return address;
}

function prefixOf(netmask: string, family: 4 | 6, refuse: Refuse): number {
  const mask = parseAddress(netmask);
  const prefix = mask?.family === family ? maskToPrefix(mask) : undefined;
  if (prefix === undefined) throw refuse(`the netmask ${quoted(netmask)} is none of an IPv${family} network`);
  return prefix;
}

/** The name ends up in files and arguments, and a pattern would match other interfaces. Labels have the kernel's 15 characters. */
function checkAlias(alias: string, refuse: Refuse): void {
  if (alias.length > 15 || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_-]+)?$/.test(alias)) {
    throw refuse(`its alias ${quoted(alias)} is no interface name`);
  }
}

const isLinkLocal = ({ family, value }: IpAddress) => family === 6 && value >> 118n === 0xfe80n >> 6n;

const quoted = (text: string) => JSON.stringify(text.slice(0, 60));
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: InterfaceConfiguration, b: InterfaceConfiguration) => compare(a.interface, b.interface);
