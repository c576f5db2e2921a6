import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { readExample } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readStemcellManifest, stemcellManifest } from "./stemcell-mf.ts";

const MINIMAL = { name: "tiny", version: "1", sha1: "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33" };
const read = (value: unknown) => {
  const parsed = readStemcellManifest(value);
  if (!parsed.ok) throw new Error(parsed.problems.join("; "));
  return parsed.stemcell;
};
const problems = (value: unknown) => {
  const parsed = readStemcellManifest(value);
  if (parsed.ok) throw new Error("it was read");
  return parsed.problems.join("; ");
};

describe("stemcell.MF", () => {
  it("is read whole", () => {
    expect(read(readExample("stemcell/stemcell-mf.api-version-2.json"))).toEqual({
      name: "slipway-namespace-tiny-os",
      version: "4.10",
      operatingSystem: "tiny-os",
      digest: "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
      apiVersion: 2,
      formats: ["namespace-tar"],
      cloudProperties: {
        name: "slipway-namespace-tiny-os",
        version: "4.10",
        infrastructure: "namespace",
        root_device_name: "/dev/sda1",
      },
    });
  });

  it("without api_version is of version 1, and without formats any CPI may try it", () => {
    expect(read(MINIMAL)).toEqual({
      name: "tiny",
      version: "1",
      operatingSystem: "tiny",
      digest: MINIMAL.sha1,
      apiVersion: 1,
      formats: undefined,
      cloudProperties: {},
    });
  });

  it("has a version that is text, however YAML read it", () => {
    expect(read({ ...MINIMAL, version: "1.10" }).version).toBe("1.10");
    expect(read({ ...MINIMAL, version: 12 }).version).toBe("12");
  });

  it.each([["2"], [0], [-1], [1.5], [null], [true], [[2]]])(
    "with api_version %j is refused by name",
    (version) => {
      expect(problems({ ...MINIMAL, api_version: version })).toContain("stemcell.MF.api_version: ");
    },
  );

  it("takes an api_version it does not know yet: deciding is not the reader's business", () => {
    expect(read({ ...MINIMAL, api_version: 99 }).apiVersion).toBe(99);
  });

  it.each(["name", "version", "sha1"] as const)("without %s is refused by name", (key) => {
    const { [key]: _, ...rest } = MINIMAL;
    expect(problems(rest)).toBe(`stemcell.MF.${key}: it is missing`);
  });

  it.each([["two words"], [""], ["a/b"], ["ä"], ["a\n"]])("rejects the name %j", (name) => {
    expect(problems({ ...MINIMAL, name })).toContain("letters, digits and - _ + .");
  });

  it.each([["."], [".."], ["__proto__"], ["x".repeat(256)]])("rejects %j as name and as version", (name) => {
    expect(problems({ ...MINIMAL, name })).toContain("stemcell.MF.name");
    expect(problems({ ...MINIMAL, version: name })).toContain("stemcell.MF.version");
  });

  it("rejects an operating system that no index takes", () => {
    for (const system of ["\u{1F4A9}".repeat(64), "a\0b", "\ud800"])
      expect(problems({ ...MINIMAL, operating_system: system })).toContain("stemcell.MF.operating_system");
  });

  it.each([[null], [[]], ["name: tiny"], [undefined]])("rejects %j in place of a manifest", (value) => {
    expect(problems(value)).toContain("stemcell.MF");
  });

  it("reads or rejects any value without throwing", () => {
    fc.assert(
      fc.property(arbitraryFor(stemcellManifest), (value) => {
        expect(read(value).version).toBeTypeOf("string");
      }),
    );
    fc.assert(
      fc.property(fc.oneof(arbitraryFor(stemcellManifest).chain(mutated), fc.anything()), (value) => {
        expect(readStemcellManifest(value)).toHaveProperty("ok");
      }),
    );
  });
});
