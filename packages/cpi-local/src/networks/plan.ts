import { createHash } from "node:crypto";
import { cloudError } from "@slipway/cpi-sdk/errors";
import { defaultNetwork, interfaceNetworks, preconfigured, subnetOf } from "@slipway/cpi-sdk/networks";
import { BITS, isInRange, parseAddress } from "@slipway/kernel/ip-address";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { AddressRefused } from "../errors.ts";

export interface SandboxNetworkPlan {
  /** The networks as the agent shall see them, with every address known. */
  readonly networks: Networks;
  readonly addresses: readonly { readonly network: string; readonly ip: string }[];
  readonly ownNetwork: boolean;
  /** Lines for `ip -batch`: in the sandbox's network, and in the host's. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
  /** The host's ends; packets from there are forwarded. */
  readonly links: readonly string[];
}

const LOOPBACK = "127.0.0.0/8";

/**
 * Addresses of 127.0.0.0/8 are the host's own, one for each sandbox. Others need root: the sandbox then has a network of
 * its own, with one pair of interfaces for each of its networks, whose other end is a router on the host.
 */
export function planNetworks(cid: string, networks: Networks, isRoot: boolean): SandboxNetworkPlan {
  const known = interfaceNetworks(networks).map(([name, network]): [string, Network & { ip: string }] => [
    name,
    { ...network, ip: network.ip || dynamicAddress(cid, name) },
  ]);
  for (const [name, { ip }] of known) mustBeAddress(name, ip);
  const loopback = known.filter(([, { ip }]) => isInRange(LOOPBACK, ip));
  const ownNetwork = known.length > loopback.length;
  if (ownNetwork && loopback.length > 0)
    throw cloudError(
      "the networks of one sandbox are either all of 127.0.0.0/8, which is the host's, or all of other ranges",
    );
  const plan = {
    networks: preconfigured({ ...networks, ...Object.fromEntries(known) }),
    addresses: known.map(([network, { ip }]) => ({ network, ip })),
    ownNetwork,
  };
  if (!ownNetwork) return { ...plan, inside: [], outside: [], links: [] };
  const [first] = known;
  if (!isRoot && first !== undefined)
    throw AddressRefused({
      network: first[0],
      ip: first[1].ip,
      why: "only root can give a sandbox a network of its own; everybody has 127.0.0.0/8",
    });
  return { ...plan, ...routed(cid, known) };
}

const HOST_END = "sw-";
/** Reports whether an interface of the host is the other end of a sandbox's interface. */
export const isHostEnd = (link: string): boolean => /^sw-[0-9a-f]{10}$/.test(link);

/** The host's end of a sandbox's interface in that network. */
export const hostEndOf = (cid: string, network: string): string =>
  `${HOST_END}${createHash("sha256").update(`${cid}\0${network}`).digest("hex").slice(0, 10)}`;

/** Makes an IPv6 address usable at once: the wire has no other host that could have the same address. */
const atOnce = (ip: string): string => (ip.includes(":") ? " nodad" : "");

/** A range that holds only this address. */
const alone = (ip: string): string => `${ip}/${ip.includes(":") ? BITS[6] : BITS[4]}`;

function routed(cid: string, known: readonly (readonly [string, Network & { ip: string }])[]) {
  const inside = ["link set lo up"];
  const outside: string[] = [];
  const links: string[] = [];
  const wayOut = defaultNetwork(Object.fromEntries(known), "gateway");
  known.forEach(([name, network], at) => {
    const { ip, gateway } = network;
    const subnet = subnetOf(network);
    if (!gateway || subnet === undefined)
      throw AddressRefused({ network: name, ip, why: "its network needs a netmask and a gateway" });
    mustBeAddress(name, gateway);
    if (parseAddress(gateway)?.family !== parseAddress(ip)?.family)
      throw AddressRefused({ network: name, ip, why: `its gateway ${gateway} is of the other family` });
    if (gateway === ip) throw AddressRefused({ network: name, ip, why: "it is the gateway's" });
    const eth = `eth${at}`;
    const link = hostEndOf(cid, name);
    links.push(link);
    inside.push(
      `link add ${eth} type veth peer name ${link} netns /proc/self/fd/8`,
      `addr add ${alone(ip)} dev ${eth}${atOnce(ip)}`,
      `link set ${eth} up`,
      `route add ${alone(gateway)} dev ${eth} scope link src ${ip}`,
      `route add ${subnet} via ${gateway} dev ${eth} src ${ip}`,
    );
    if (wayOut === name) inside.push(`route add default via ${gateway} dev ${eth} src ${ip}`);
    // Every sandbox of the range has the gateway at the other end of its own wire.
    outside.push(
      `addr add ${alone(gateway)} dev ${link}${atOnce(gateway)}`,
      `link set ${link} up`,
      `route add ${alone(ip)} dev ${link} src ${gateway}`,
    );
  });
  return { inside, outside, links };
}

/** Returns an address of a range that no network plans with, always the same for the same VM and network. */
function dynamicAddress(cid: string, network: string): string {
  const [a = 0, b = 0] = createHash("sha256").update(`${cid}\0${network}`).digest();
  return `127.254.${a}.${1 + (b % 254)}`;
}

function mustBeAddress(network: string, ip: string): void {
  if (parseAddress(ip) === undefined)
    throw AddressRefused({ network, ip: JSON.stringify(ip), why: "it is no address" });
}
