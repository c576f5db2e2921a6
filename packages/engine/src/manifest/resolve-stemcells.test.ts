import { stemcellCid } from "@slipway/protocol/ids";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { StemcellRecord } from "../model/records.ts";
import { resolveStemcells, withResolvedVersions } from "./resolve-stemcells.ts";
import { compareStemcellVersions, compareVersions, isVersion } from "./versions.ts";

describe("versions", () => {
  const ascending = [
    "0",
    "1",
    "1.0.1",
    "1.1",
    "1.9",
    "1.10",
    "1.a",
    "1.b",
    "2-alpha",
    "2-rc.1",
    "2-rc.2",
    "2",
    "2+dev.1",
    "2+dev.2",
    "2.1",
    "10",
    "99999999999999999998",
    "99999999999999999999",
    "01",
    "a",
  ];
  it("have the order of upstream", () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Math.sign(i - j)]);
      }
    }
  });

  it.each([
    ["1", "1.0"],
    ["1.0.0", "1"],
    ["1-rc", "1-rc.0"],
  ])("%s is %s", (a, b) => expect(compareVersions(a, b)).toBe(0));

  it("stemcells separate with _ too", () => expect(compareStemcellVersions("1_9", "1.10")).toBeLessThan(0));

  it.each(["", "1 2", "1/2", "1+a+b", "-1", "é"])("%j is not a version", (text) =>
    expect(isVersion(text)).toBe(false),
  );

  it("comparing is an order, whatever is compared", () => {
    const version = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc
        .array(fc.constantFrom("1", "0", "10", ".", "-", "+", "a", "01"), { maxLength: 7 })
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(0 - Math.sign(compareVersions(b, a)) + 0);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});

let id = 0;
const row = (name: string, os: string, version: string, cpi = ""): StemcellRecord => ({
  id: ++id,
  name,
  version,
  operatingSystem: os,
  cid: v.parse(stemcellCid, `sc-${id}`),
  cpi,
  apiVersion: 3,
});

const uploaded = [
  row("warden-noble", "ubuntu-noble", "1.9"),
  row("warden-noble", "ubuntu-noble", "1.10"),
  row("docker-noble", "ubuntu-noble", "1.10", "docker"),
  row("warden-noble", "ubuntu-noble", "2-rc.1"),
  row("warden-noble", "ubuntu-noble", "11.0"),
  row("warden-jammy", "ubuntu-jammy", "1.785"),
];

const resolve = (wanted: { os?: string; name?: string; version: string }) =>
  resolveStemcells(
    [{ alias: "default", os: wanted.os, name: wanted.name, version: wanted.version }],
    uploaded,
  );

describe("stemcells of a manifest", () => {
  it.each([
    [{ os: "ubuntu-noble", version: "latest" }, ["warden-noble/11.0"]],
    [{ os: "ubuntu-noble", version: "1.latest" }, ["docker-noble/1.10", "warden-noble/1.10"]],
    [{ os: "ubuntu-noble", version: "2.latest" }, ["warden-noble/2-rc.1"]],
    [{ name: "warden-noble", version: "1.latest" }, ["warden-noble/1.10"]],
    [{ name: "warden-noble", version: "1.9" }, ["warden-noble/1.9"]],
    [{ os: "ubuntu-noble", version: "11" }, ["warden-noble/11.0"]],
  ])("%j", (wanted, expected) => {
    const found = resolve(wanted);
    expect(found.ok && found.stemcells[0]?.records.map((one) => `${one.name}/${one.version}`)).toEqual(
      expected,
    );
  });

  it.each([
    [{ os: "ubuntu-noble", version: "3.latest" }],
    [{ os: "centos", version: "latest" }],
    [{ name: "ubuntu-noble", version: "1.9" }],
    [{ os: "ubuntu-noble", version: "1.1" }],
  ])("%j is not there, and the message says what is", (wanted) => {
    const found = resolve(wanted);
    expect(found).toMatchObject({ ok: false, problems: [{ code: 50003, where: "stemcells[default]" }] });
  });

  it("versions are put into the raw manifest for the diff", () => {
    const raw = { name: "x", stemcells: [{ alias: "default", os: "ubuntu-noble", version: "1.latest" }, 3] };
    const found = resolve({ os: "ubuntu-noble", version: "1.latest" });
    expect(withResolvedVersions(raw, found.ok ? found.stemcells : [])).toEqual({
      name: "x",
      stemcells: [{ alias: "default", os: "ubuntu-noble", version: "1.10" }, 3],
    });
    expect(withResolvedVersions("x", [])).toBe("x");
  });
});
