import { isIP } from "node:net";

/** An IP address as a number, so that two spellings of one address are equal. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** How long an address of the family is. */
export const BITS = { 4: 32, 6: 128 } as const;

/** Undefined when the text is no address. Zones (`%eth0`) are none of ours. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.includes("%")) return undefined;
  const family = isIP(text);
  if (family === 4) return { family, value: fromGroups(text.split(".").map(Number), 8n) };
  if (family === 6) return { family, value: fromGroups(groupsOf(text), 16n) };
  return undefined;
}

export const sameAddress = (a: IpAddress, b: IpAddress): boolean =>
  a.family === b.family && a.value === b.value;

export function formatAddress({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(112 - 16 * i)) & 0xffffn);
  // A URL writes an address in its one canonical form (RFC 5952).
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}

/** Prefix length of a mask; undefined when its ones are not all in front. */
export function maskToPrefix(mask: IpAddress): number | undefined {
  const bits = mask.value.toString(2).padStart(BITS[mask.family], "0");
  return /^1*0*$/.test(bits) ? bits.lastIndexOf("1") + 1 : undefined;
}

export function prefixToMask(family: 4 | 6, prefix: number): IpAddress {
  const bits = BigInt(BITS[family]);
  const ones = (1n << BigInt(prefix)) - 1n;
  return { family, value: ones << (bits - BigInt(prefix)) };
}

/** The network an address is in: its host bits cleared. */
export function networkOf(address: IpAddress, prefix: number): IpAddress {
  return { family: address.family, value: address.value & prefixToMask(address.family, prefix).value };
}

/** Prefix length of an address with this mask; undefined where there is no mask, or none that is one for it. */
export function prefixOf(ip: string, netmask: string | undefined): number | undefined {
  const mask = parseAddress(netmask ?? "");
  return mask === undefined || mask.family !== parseAddress(ip)?.family ? undefined : maskToPrefix(mask);
}

/** `10.0.0.7` in `255.255.255.0` is of `10.0.0.0/24`. Undefined where `prefixOf` is. */
export function rangeOf(ip: string, netmask: string | undefined): string | undefined {
  const address = parseAddress(ip);
  const prefix = prefixOf(ip, netmask);
  if (address === undefined || prefix === undefined) return undefined;
  return `${formatAddress(networkOf(address, prefix))}/${prefix}`;
}

/** Tells whether a range such as `10.0.0.0/8` or `fd00::/64`, or a single address, contains this address. */
export function isInRange(range: string, ip: string): boolean {
  const [start = "", bits] = range.split("/");
  const network = parseAddress(start);
  const address = parseAddress(ip);
  if (network === undefined || network.family !== address?.family) return false;
  const prefix = bits === undefined ? BITS[network.family] : Number(bits);
  return sameAddress(networkOf(network, prefix), networkOf(address, prefix));
}

/** Name of the network that one host can choose addresses from: an IPv4 address itself, the 64-bit prefix of an IPv6 address. */
export function networkName(ip: string): string {
  const address = isIP(ip) === 4 ? undefined : parseAddress(ip.split("%", 1)[0] ?? "");
  if (address === undefined) return ip;
  // IPv4 as a dual-stack socket shows it.
  if (address.value >> 32n === 0xffffn)
    return formatAddress({ family: 4, value: address.value & 0xffffffffn });
  return `${formatAddress(networkOf(address, 64))}/64`;
}

/** Formats a netmask as Ruby does: IPv6 with all of its digits. */
export function formatMask(family: 4 | 6, prefix: number): string {
  const mask = prefixToMask(family, prefix);
  if (family === 4) return formatAddress(mask);
  return (mask.value.toString(16).padStart(32, "0").match(/.{4}/g) ?? []).join(":");
}

const fromGroups = (groups: readonly number[], width: bigint) =>
  groups.reduce((value, group) => (value << width) | BigInt(group), 0n);

function groupsOf(text: string): number[] {
  const plain = text.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = plain.split("::");
  const parse = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const front = parse(head);
  const back = tail === undefined ? [] : parse(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}
