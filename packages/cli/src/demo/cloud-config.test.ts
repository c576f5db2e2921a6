import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { rangeOf } from "./cloud-config.ts";
import { cloudConfig, isOurs, MANIFEST } from "./documents.ts";
import { BadRange } from "./errors.ts";

describe("the addresses of the demo", () => {
  it.each(["127.20.0.0/24", "127.255.255.0/24"])("%s are loopback's", (range) => {
    expect(rangeOf(range)).toBe(range);
    const [network] = parse(cloudConfig(range)).networks;
    expect(network.subnets[0]).toMatchObject({ range, gateway: range.replace("0/24", "1") });
  });

  it.each(["10.0.0.0/24", "127.20.0.0/16", "127.256.0.0/24", "127.20.0.1/24", "127.20.0.0/24 ", ""])(
    "'%s' are refused",
    (range) => {
      expect(() => rangeOf(range)).toThrow(expect.toSatisfy(BadRange.is));
    },
  );
});

it("the demo knows its own documents, and takes nobody else's for its own", () => {
  for (const text of [MANIFEST, cloudConfig("127.20.0.0/24")]) {
    expect(isOurs(text)).toBe(true);
    expect(isOurs(`# mine\n${text}`)).toBe(false);
  }
});
