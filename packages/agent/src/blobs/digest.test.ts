import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkDigest, formatDigest, strongestDigest } from "./digest.ts";
import { BadDigest } from "./errors.ts";

const hex = (algorithm: string, content: string | Uint8Array) =>
  createHash(algorithm).update(content).digest("hex");

describe("a digest", () => {
  it("is sha1 without a name and printed without it", () => {
    const sha1 = hex("sha1", "x");
    expect(strongestDigest(sha1)).toEqual({ algorithm: "sha1", hex: sha1 });
    expect(formatDigest(strongestDigest(`sha1:${sha1.toUpperCase()}`))).toBe(sha1);
    expect(formatDigest(strongestDigest(`sha256:${hex("sha256", "x")}`))).toBe(
      `sha256:${hex("sha256", "x")}`,
    );
  });

  it("is the strongest of several algorithms in any order; empty and unknown parts are ignored", () => {
    const parts = [
      hex("sha1", "x"),
      `sha512:${hex("sha512", "x")}`,
      `sha256:${hex("sha256", "x")}`,
      "",
      "blake9:ff",
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(parts, { minLength: parts.length }), (some) => {
        expect(strongestDigest(some.join(";")).algorithm).toBe("sha512");
      }),
    );
  });

  it("does not fall back to a weaker one when the strongest is wrong", () => {
    const text = `${hex("sha1", "x")};sha512:${hex("sha512", "y")}`;
    expect(checkDigest(Buffer.from("x"), text)).toBe(false);
    expect(checkDigest(Buffer.from("y"), text)).toBe(true);
  });

  it.each([
    "",
    ";;",
    "zz",
    "abc",
    "md5:abc",
    `${"a".repeat(40)};${"b".repeat(40)}`,
    `sha256:${"a".repeat(40)}`,
    "sha256:",
  ])("is not %j", (text) => {
    expect(() => strongestDigest(text)).toThrow(expect.toSatisfy(BadDigest.is));
    expect(checkDigest(new Uint8Array(), text)).toBe(false);
  });

  it("fits its content and no other", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (one, other) => {
        const same = Buffer.from(one).equals(Buffer.from(other));
        expect(checkDigest(other, `sha256:${hex("sha256", one)}`)).toBe(same);
      }),
    );
  });
});
