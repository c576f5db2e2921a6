import type { IpRange } from "./model.ts";

/** IPv4 addresses are unsigned 32-bit numbers here; nothing wraps below 0.0.0.0 or above 255.255.255.255. */

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;

/** Four decimal numbers, no leading zeros: some read those as octal. */
export function parseIp(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let ip = 0;
  for (const part of parts) {
    const n = Number(part);
    if (!OCTET.test(part) || n > 255) return undefined;
    ip = ip * 256 + n;
  }
  return ip;
}

export const formatIp = (ip: number): string =>
  `${Math.floor(ip / 0x1000000)}.${(ip >>> 16) & 255}.${(ip >>> 8) & 255}.${ip & 255}`;

export interface Cidr extends IpRange {
  readonly bits: number;
}

/** `10.0.0.0/24`; bits of the host part are dropped. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const address = parseIp(text.slice(0, slash));
  const bitsText = text.slice(slash + 1);
  if (slash < 0 || address === undefined || !/^(?:[0-9]|[12][0-9]|3[0-2])$/.test(bitsText)) return undefined;
  const bits = Number(bitsText);
  const size = 2 ** (32 - bits);
  const first = Math.floor(address / size) * size;
  return { first, last: first + size - 1, bits };
}

export const netmask = (bits: number): string => formatIp(bits === 0 ? 0 : 0x100000000 - 2 ** (32 - bits));

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
  return to === undefined || to < from ? undefined : { first: from, last: to };
}

export const sizeOf = (range: IpRange): number => range.last - range.first + 1;
export const contains = (range: IpRange, ip: number): boolean => ip >= range.first && ip <= range.last;
export const within = (inner: IpRange, outer: IpRange): boolean =>
  inner.first >= outer.first && inner.last <= outer.last;
export const overlap = (a: IpRange, b: IpRange): boolean => a.first <= b.last && b.first <= a.last;

/** The same addresses as ranges in order, none touching another. */
export function mergeRanges(ranges: readonly IpRange[]): readonly IpRange[] {
  const merged: { first: number; last: number }[] = [];
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && range.first <= before.last + 1)
      before.last = Math.max(before.last, range.last);
    else merged.push({ first: range.first, last: range.last });
  }
  return merged;
}

/** One of the merged ranges that shares an address with this one. */
export function findOverlap(merged: readonly IpRange[], range: IpRange): IpRange | undefined {
  let low = 0;
  let high = merged.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((merged[middle]?.last ?? 0) < range.first) low = middle + 1;
    else high = middle;
  }
  const found = merged[low];
  return found !== undefined && overlap(found, range) ? found : undefined;
}

export const formatRange = (range: IpRange): string =>
  range.first === range.last ? formatIp(range.first) : `${formatIp(range.first)}-${formatIp(range.last)}`;

/** Whether it is an IPv6 address or range, to say so instead of calling it broken. */
export const looksLikeIpv6 = (text: string): boolean => /^[\s0-9a-f:./-]+$/i.test(text) && text.includes(":");
