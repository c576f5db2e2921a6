import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contains,
  findOverlap,
  formatIp,
  formatRange,
  mergeRanges,
  netmask,
  overlap,
  parseCidr,
  parseIp,
  parseRange,
  sizeOf,
  within,
} from "./ip.ts";

const IPV6 = parseIp("::") ?? 0n;
const ipv4 = fc.bigInt({ min: 0n, max: 0xffffffffn });
const ipv6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((n) => IPV6 + n);
const ip = fc.oneof(ipv4, ipv6);
const range = fc
  .oneof(fc.tuple(ipv4, ipv4), fc.tuple(ipv6, ipv6))
  .map(([a, b]) => (a < b ? { first: a, last: b } : { first: b, last: a }));

describe("addresses", () => {
  it("come back as they were", () => {
    fc.assert(fc.property(ip, (n) => parseIp(formatIp(n)) === n));
  });

  it.each([
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["fd00:0:0:1::", "fd00:0:0:1::"],
    ["::ffff:10.0.0.1", "::ffff:a00:1"],
  ])("%s is written %s", (text, expected) => expect(formatIp(parseIp(text) ?? 0n)).toBe(expected));

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
    "fd00::1::2",
    "fe80::1%eth0",
    "[::1]",
    ":::",
  ])("%j is none", (text) => expect(parseIp(text)).toBeUndefined());
});

describe("ranges", () => {
  it("a CIDR holds its address, is as big as its bits say and begins at a multiple of its size", () => {
    fc.assert(
      fc.property(ip, fc.integer({ min: 0, max: 128 }), (n, wanted) => {
        const all = n >= IPV6 ? 128 : 32;
        const bits = Math.min(wanted, all);
        const cidr = parseCidr(`${formatIp(n)}/${bits}`);
        expect(cidr).toBeDefined();
        if (cidr === undefined) return;
        expect(contains(cidr, n)).toBe(true);
        expect(sizeOf(cidr)).toBe(2n ** BigInt(all - bits));
        expect(cidr.first % sizeOf(cidr)).toBe(0n);
      }),
    );
  });

  it.each([
    ["10.0.0.5", "10.0.0.5"],
    ["10.0.0.5-10.0.0.9", "10.0.0.5-10.0.0.9"],
    [" 10.0.0.5 - 10.0.0.9 ", "10.0.0.5-10.0.0.9"],
    ["10.0.0.0/30", "10.0.0.0-10.0.0.3"],
    ["0.0.0.0/0", "0.0.0.0-255.255.255.255"],
    ["fd00::5", "fd00::5"],
    ["fd00::5-fd00::A", "fd00::5-fd00::a"],
    ["fd00::ff/120", "fd00::-fd00::ff"],
    ["::/0", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
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
    "fd00::/129",
    "10.0.0.1-fd00::1",
    "fd00::1/064",
  ])("%j is none", (text) => expect(parseRange(text)).toBeUndefined());

  it.each([
    ["10.0.0.0/0", "0.0.0.0"],
    ["10.0.0.0/1", "128.0.0.0"],
    ["10.0.0.0/24", "255.255.255.0"],
    ["10.0.0.0/32", "255.255.255.255"],
    ["fd00::/64", "ffff:ffff:ffff:ffff:0000:0000:0000:0000"],
    ["fd00::/60", "ffff:ffff:ffff:fff0:0000:0000:0000:0000"],
  ])("the mask of %s is %s", (text, mask) => {
    const cidr = parseCidr(text);
    expect(cidr && netmask(cidr)).toBe(mask);
  });

  it("merged ranges hold the same addresses and are found by any overlap", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), range, (ranges, one) => {
        const merged = mergeRanges(ranges);
        expect(findOverlap(merged, one) !== undefined).toBe(ranges.some((other) => overlap(other, one)));
        for (const each of ranges) expect(merged.some((whole) => within(each, whole))).toBe(true);
        for (const [i, each] of merged.entries()) {
          const next = merged[i + 1];
          if (next !== undefined) expect(next.first).toBeGreaterThan(each.last + 1n);
        }
      }),
    );
  });
});
