import {
  BITS,
  formatAddress,
  maskToPrefix,
  networkOf,
  parseAddress,
  sameAddress,
} from "@slipway/kernel/ip-address";
import type { Network } from "@slipway/protocol/settings/networks";

/** Whether a range such as `10.0.0.0/8` or `fd00::/64`, or a single address, has this address. */
export function contains(range: string, ip: string): boolean {
  const [start = "", bits] = range.split("/");
  const network = parseAddress(start);
  const address = parseAddress(ip);
  if (network === undefined || network.family !== address?.family) return false;
  const prefix = bits === undefined ? BITS[network.family] : Number(bits);
  return sameAddress(networkOf(network, prefix), networkOf(address, prefix));
}

/** Of a netmask; undefined for one with holes, or of the other family. */
export function prefixOf({ ip, netmask }: Network): number | undefined {
  const mask = parseAddress(netmask ?? "");
  return mask === undefined || mask.family !== parseAddress(ip ?? "")?.family
    ? undefined
    : maskToPrefix(mask);
}

/** The address alone, as routes name it. */
export const alone = (ip: string): string => `${ip}/${ip.includes(":") ? BITS[6] : BITS[4]}`;

/** By its netmask. */
export function rangeOf(given: Network & { readonly ip: string }): string {
  const address = parseAddress(given.ip);
  const prefix = prefixOf(given);
  if (address === undefined || prefix === undefined) return alone(given.ip);
  return `${formatAddress(networkOf(address, prefix))}/${prefix}`;
}
