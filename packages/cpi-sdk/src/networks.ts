import { createHash } from "node:crypto";
import { formatMask, parseAddress, prefixOf, rangeOf } from "@slipway/kernel/ip-address";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { cloudError } from "./errors.ts";

/** Networks that the VM has an interface in: all but vips, which the cloud routes to the VM. */
export const interfaceNetworks = (networks: Networks): readonly (readonly [name: string, Network])[] =>
  Object.entries(networks).filter(([, network]) => network.type !== "vip");

/** Name of the network that is the default for `dns` or `gateway`: the one that says so, or else the first. */
export function defaultNetwork(networks: Networks, what: "dns" | "gateway"): string | undefined {
  const candidates = interfaceNetworks(networks);
  const marked = candidates.find(([, network]) => network.default?.includes(what));
  return (marked ?? candidates[0])?.[0];
}

/** Name servers of the networks that are the default for DNS, or of all networks if none is. */
export function nameServers(networks: Networks): string[] {
  const candidates = interfaceNetworks(networks);
  const marked = candidates.filter(([, network]) => network.default?.includes("dns"));
  const used = marked.length > 0 ? marked : candidates;
  return [...new Set(used.flatMap(([, network]) => network.dns ?? []))];
}

/** Gives the default network for DNS these name servers, unless the networks have some already. */
export function withDefaultNameServers(networks: Networks, servers: readonly string[]): Networks {
  const name = defaultNetwork(networks, "dns");
  if (name === undefined || nameServers(networks).length > 0) return networks;
  return { ...networks, [name]: { ...networks[name], dns: [...servers] } };
}

/** Address with the prefix length of its subnet, such as `10.0.4.9/24`; undefined without an address and a netmask. */
export function addressInCidr({ ip = "", netmask }: Network): string | undefined {
  const prefix = prefixOf(ip, netmask);
  return prefix === undefined ? undefined : `${ip}/${prefix}`;
}

/** Subnet of the address, such as `10.0.4.0/24`; undefined without an address and a netmask. */
export const subnetOf = ({ ip = "", netmask }: Network): string | undefined => rangeOf(ip, netmask);

/** Marks networks whose interfaces the cloud sets up itself, so that the agent only writes DNS. */
export const preconfigured = (networks: Networks): Networks => ({
  ...networks,
  ...Object.fromEntries(
    interfaceNetworks(networks).map(([name, network]) => [name, { ...network, preconfigured: true }]),
  ),
});

/** Adds the MAC address of each interface by network name. An agent with several interfaces finds them by it. */
export function withMacs(networks: Networks, macs: Readonly<Record<string, string>>): Networks {
  const changed = { ...networks };
  for (const [name, mac] of Object.entries(macs)) {
    const network = networks[name];
    if (network === undefined || network.type === "vip")
      throw cloudError(`there is no network '${name}' with an interface to give the MAC address ${mac}`);
    changed[name] = { ...network, mac: macAddress(mac) };
  }
  return changed;
}

/** MAC address as Linux and the agent write it: `02:00:0a:bb:cc:dd`. Takes the spellings of other systems. */
export function macAddress(text: string): string {
  const digits = text.toLowerCase().replaceAll(/[:.-]/g, "");
  if (!/^[0-9a-f]{12}$/.test(digits)) throw cloudError(`'${text}' is not a MAC address`);
  return (digits.match(/../g) ?? []).join(":");
}

/** MAC address that is always the same for the same text, such as VM cid and network: local, and of one interface. */
export function macFor(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 6);
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return macAddress(bytes.toString("hex"));
}

/** Adds routes, each to a range such as `10.9.0.0/16`, to one network. */
export function withRoutes(
  networks: Networks,
  name: string,
  routes: readonly { readonly destination: string; readonly gateway: string }[],
): Networks {
  const network = networks[name];
  if (network === undefined) throw cloudError(`there is no network '${name}' to add routes to`);
  const added = routes.map(({ destination, gateway }) => {
    const [start = "", bits = ""] = destination.split("/");
    const address = parseAddress(start);
    const prefix = Number(bits);
    const longest = address?.family === 4 ? 32 : 128;
    if (address === undefined || !/^\d{1,3}$/.test(bits) || prefix > longest)
      throw cloudError(`'${destination}' is not a range such as 10.9.0.0/16`);
    if (parseAddress(gateway)?.family !== address.family)
      throw cloudError(`'${gateway}' is not a gateway for ${destination}`);
    return { Destination: start, Gateway: gateway, Netmask: formatMask(address.family, prefix) };
  });
  return { ...networks, [name]: { ...network, routes: [...(network.routes ?? []), ...added] } };
}
