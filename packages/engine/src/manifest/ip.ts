import { BITS, formatAddress, formatMask, networkOf, parseAddress } from "@slipway/kernel/ip-address";
import type { IpRange } from "./model.ts";

/** Every IPv6 address comes after every IPv4 address: no range has both, and nothing wraps from one into the other. */
const IPV6 = 1n << 128n;

export const isIpv6 = (ip: bigint): boolean => ip >= IPV6;
const familyOf = (ip: bigint): 4 | 6 => (isIpv6(ip) ? 6 : 4);

/** Four decimal numbers without leading zeros, which some read as octal; or IPv6 in any spelling. */
export function parseIp(text: string): bigint | undefined {
  const address = parseAddress(text);
  return address && (address.family === 6 ? IPV6 + address.value : address.value);
}

export const formatIp = (ip: bigint): string =>
  formatAddress({ family: familyOf(ip), value: isIpv6(ip) ? ip - IPV6 : ip });

export interface Cidr extends IpRange {
  readonly bits: number;
}

/** `10.0.0.0/24` or `fd00::/64`; bits of the host part are dropped. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const address = slash < 0 ? undefined : parseAddress(text.slice(0, slash));
  const bitsText = text.slice(slash + 1);
  if (address === undefined || !/^(?:0|[1-9][0-9]{0,2})$/.test(bitsText)) return undefined;
  const bits = Number(bitsText);
  const all = BITS[address.family];
  if (bits > all) return undefined;
  const first = networkOf(address, bits).value + (address.family === 6 ? IPV6 : 0n);
  return { first, last: first + (1n << BigInt(all - bits)) - 1n, bits };
}

export const netmask = ({ first, bits }: Cidr): string => formatMask(familyOf(first), bits);

/** The prefix that says "this one address", as the wire has it. */
export const singlePrefix = (ip: bigint): string => String(BITS[familyOf(ip)]);

/** How many addresses a prefix stands for, where this address is. */
export const sizeOfPrefix = (ip: bigint, prefix: number): bigint => 1n << BigInt(BITS[familyOf(ip)] - prefix);

/** A delegated prefix goes by its first address and its length, a single address by itself: `10.0.0.16/28`, `10.0.0.5`. */
export const formatBlock = (first: bigint, size: bigint): string =>
  size === 1n
    ? formatIp(first)
    : `${formatIp(first)}/${BITS[familyOf(first)] - (size.toString(2).length - 1)}`;

/** Parses the text that `formatBlock` writes. */
export function parseBlock(text: string): { readonly first: bigint; readonly size: bigint } | undefined {
  if (text.includes("/")) {
    const cidr = parseCidr(text);
    return cidr && { first: cidr.first, size: sizeOf(cidr) };
  }
  const first = parseIp(text);
  return first === undefined ? undefined : { first, size: 1n };
}

/** An address, `a-b` (blanks allowed) or a CIDR. */
export function parseRange(text: string): IpRange | undefined {
  const trimmed = text.trim();
  if (trimmed.includes("/")) {
    const cidr = parseCidr(trimmed);
    return cidr && { first: cidr.first, last: cidr.last };
  }
  const [from, to, ...rest] = trimmed.split("-").map((part) => parseIp(part.trim()));
  if (from === undefined || rest.length > 0) return undefined;
  if (!trimmed.includes("-")) return { first: from, last: from };
  return to === undefined || to < from || isIpv6(to) !== isIpv6(from) ? undefined : { first: from, last: to };
}

export const sizeOf = (range: IpRange): bigint => range.last - range.first + 1n;
export const contains = (range: IpRange, ip: bigint): boolean => ip >= range.first && ip <= range.last;
export const within = (inner: IpRange, outer: IpRange): boolean =>
  inner.first >= outer.first && inner.last <= outer.last;
export const overlap = (a: IpRange, b: IpRange): boolean => a.first <= b.last && b.first <= a.last;
export const byFirst = (a: IpRange, b: IpRange): number =>
  a.first < b.first ? -1 : a.first > b.first ? 1 : 0;

/** The same addresses as ranges in order, none touching another. */
export function mergeRanges(ranges: readonly IpRange[]): readonly IpRange[] {
  const merged: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of [...ranges].sort(byFirst)) {
    const before = merged.at(-1);
    if (before === undefined || first > before.last + 1n) merged.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return merged;
}

/** One of the merged ranges that shares an address with this one. */
export function findOverlap(merged: readonly IpRange[], range: IpRange): IpRange | undefined {
  let low = 0;
  let high = merged.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((merged[middle]?.last ?? 0n) < range.first) low = middle + 1;
    else high = middle;
  }
  const found = merged[low];
  return found !== undefined && overlap(found, range) ? found : undefined;
}

export const formatRange = (range: IpRange): string =>
  range.first === range.last ? formatIp(range.first) : `${formatIp(range.first)}-${formatIp(range.last)}`;
