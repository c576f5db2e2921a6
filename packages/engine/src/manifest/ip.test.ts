import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contains,
  findOverlap,
  formatIp,
  formatRange,
  looksLikeIpv6,
  mergeRanges,
  netmask,
  overlap,
  parseCidr,
  parseIp,
  parseRange,
  sizeOf,
  within,
} from "./ip.ts";

const ip = fc.integer({ min: 0, max: 0xffffffff });
const range = fc.tuple(ip, ip).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }));

describe("addresses", () => {
  it("come back as they were", () => {
    fc.assert(fc.property(ip, (n) => parseIp(formatIp(n)) === n));
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "256.0.0.1",
    "01.2.3.4",
    "1.2.3.-4",
    "1.2.3.4 ",
    "0x1.2.3.4",
    "1e1.2.3.4",
  ])("%j is none", (text) => expect(parseIp(text)).toBeUndefined());
});

describe("ranges", () => {
  it("a CIDR holds its address, is as big as its bits say and begins at a multiple of its size", () => {
    fc.assert(
      fc.property(ip, fc.integer({ min: 0, max: 32 }), (n, bits) => {
        const cidr = parseCidr(`${formatIp(n)}/${bits}`);
        expect(cidr).toBeDefined();
        if (cidr === undefined) return;
        expect(contains(cidr, n)).toBe(true);
        expect(sizeOf(cidr)).toBe(2 ** (32 - bits));
        expect(cidr.first % sizeOf(cidr)).toBe(0);
      }),
    );
  });

  it.each([
    ["10.0.0.5", "10.0.0.5"],
    ["10.0.0.5-10.0.0.9", "10.0.0.5-10.0.0.9"],
    [" 10.0.0.5 - 10.0.0.9 ", "10.0.0.5-10.0.0.9"],
    ["10.0.0.0/30", "10.0.0.0-10.0.0.3"],
    ["0.0.0.0/0", "0.0.0.0-255.255.255.255"],
  ])("%s is %s", (text, expected) => {
    const found = parseRange(text);
    expect(found && formatRange(found)).toBe(expected);
  });

  it.each([
    "10.0.0.9-10.0.0.5",
    "10.0.0.1-",
    "-10.0.0.1",
    "1.1.1.1-2.2.2.2-3.3.3.3",
    "10.0.0.0/33",
    "10.0.0.0/",
    "x",
    "::1",
  ])("%j is none", (text) => expect(parseRange(text)).toBeUndefined());

  it.each([
    [0, "0.0.0.0"],
    [1, "128.0.0.0"],
    [24, "255.255.255.0"],
    [32, "255.255.255.255"],
  ])("the mask of %i bits is %s", (bits, mask) => expect(netmask(bits)).toBe(mask));

  it("merged ranges hold the same addresses and are found by any overlap", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), range, (ranges, one) => {
        const merged = mergeRanges(ranges);
        expect(findOverlap(merged, one) !== undefined).toBe(ranges.some((other) => overlap(other, one)));
        for (const each of ranges) expect(merged.some((whole) => within(each, whole))).toBe(true);
        for (const [i, each] of merged.entries()) {
          const next = merged[i + 1];
          if (next !== undefined) expect(next.first).toBeGreaterThan(each.last + 1);
        }
      }),
    );
  });

  it.each(["fd00::/64", "::1", "2001:db8::1-2001:db8::5"])("%s is told as IPv6", (text) =>
    expect(looksLikeIpv6(text)).toBe(true),
  );
});
