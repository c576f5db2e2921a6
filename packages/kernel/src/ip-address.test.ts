import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatAddress,
  type IpAddress,
  isInRange,
  maskToPrefix,
  networkName,
  networkOf,
  parseAddress,
  prefixToMask,
  rangeOf,
  sameAddress,
} from "./ip-address.ts";

const address = (text: string): IpAddress => {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`${text} is no address`);
  return parsed;
};

describe("addresses", () => {
  it("addresses of one value are equal in every spelling", () => {
    expect(sameAddress(address("2001:DB8:0:0::1"), address("2001:db8::1"))).toBe(true);
    expect(sameAddress(address("::ffff:10.0.0.1"), address("::ffff:a00:1"))).toBe(true);
    expect(sameAddress(address("0.0.0.1"), address("::1"))).toBe(false);
  });

  it("come back from their text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const parsed = address(text);
        expect(parseAddress(formatAddress(parsed))).toEqual(parsed);
      }),
    );
  });

  it.each(["", "10.0.0", "10.0.0.256", "fe80::1%eth0", "-1.2.3.4", "10.0.0.1\n", "host"])(
    "are not %j",
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});

describe("masks", () => {
  it("netmasks and prefix lengths convert into each other", () => {
    for (const family of [4, 6] as const) {
      for (let prefix = 0; prefix <= (family === 4 ? 32 : 128); prefix++) {
        expect(maskToPrefix(prefixToMask(family, prefix))).toBe(prefix);
      }
    }
    expect(formatAddress(prefixToMask(4, 20))).toBe("255.255.240.0");
    expect(formatAddress(prefixToMask(6, 64))).toBe("ffff:ffff:ffff:ffff::");
  });

  it("netmasks with holes have no prefix length", () => {
    expect(maskToPrefix(address("255.0.255.0"))).toBeUndefined();
  });

  it("cut the host's part off", () => {
    expect(formatAddress(networkOf(address("10.9.8.7"), 16))).toBe("10.9.0.0");
    expect(formatAddress(networkOf(address("2001:db8::5"), 64))).toBe("2001:db8::");
  });
});

describe("the range of an address", () => {
  it.each([
    ["10.0.4.9", "255.255.255.0", "10.0.4.0/24"],
    ["10.0.4.200", "255.255.255.192", "10.0.4.192/26"],
    ["172.20.3.4", "255.252.0.0", "172.20.0.0/14"],
    ["1.2.3.4", "255.255.255.255", "1.2.3.4/32"],
    ["1.2.3.4", "0.0.0.0", "0.0.0.0/0"],
    ["1.2.3.4", "255.0.255.0", undefined],
    ["1.2.3.4", "x", undefined],
    ["1.2.3.4", undefined, undefined],
    ["fd00::1", "255.255.255.0", undefined],
    ["fd00:1::7", "ffff:ffff:ffff:ffff:0000:0000:0000:0000", "fd00:1::/64"],
    ["fd00:1::7", "ffff:ffff::", "fd00:1::/32"],
    ["fd00:1::7", "ffff::1", undefined],
  ])("%s in %s is of %s", (ip, mask, range) => {
    expect(rangeOf(ip, mask)).toBe(range);
  });

  it.each([
    ["10.0.0.0/24", "10.0.0.255", true],
    ["10.0.0.0/24", "10.0.1.0", false],
    ["fd00::/64", "fd00::7", true],
    ["fd00::/64", "10.0.0.1", false],
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["192.168.7.4", "192.168.7.4", true],
    ["192.168.7.4/31", "192.168.7.5", true],
    ["0.0.0.0/0", "1.2.3.4", true],
    ["255.255.255.255/32", "255.255.255.254", false],
    ["fd00:1::/64", "fd00:1::7", true],
    ["fd00:1::/64", "fd00:2::7", false],
    ["fd00:1::7", "fd00:1:0::7", true],
    ["::/0", "1.2.3.4", false],
    ["nonsense", "10.0.0.1", false],
  ])("%s has %s: %s", (range, ip, has) => {
    expect(isInRange(range, ip)).toBe(has);
  });
});

describe("the network that a host can choose addresses from", () => {
  it.each([
    ["10.0.0.7", "10.0.0.7"],
    ["::ffff:10.0.0.7", "10.0.0.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80::/64"],
    ["::1", "::/64"],
    ["", ""],
  ])("the network of the host %s is %s", (ip, name) => expect(networkName(ip)).toBe(name));
});
