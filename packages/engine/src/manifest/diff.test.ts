import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import { type DiffLine, diffManifests } from "./diff.ts";
import { diffDocument } from "./diff-document.ts";
import { SHOP } from "./testing/documents.ts";

const MARK = { added: "+ ", removed: "- ", null: "  " };
/** Formats a diff as the CLI prints it. */
const printed = (lines: readonly DiffLine[]) =>
  lines.map(([text, status]) => (MARK[`${status}`] + text).trimEnd()).join("\n");

function diff(before: string, after: string, redact = true): string {
  return printed(diffManifests(parseYaml(before, "a"), parseYaml(after, "b"), { redact }));
}

describe("a diff", () => {
  it("is as in the reference", () => {
    const before = { azs: [], instance_groups: [{ name: "web", instances: 1 }] };
    const after = { azs: [{ name: "z1" }], instance_groups: [{ name: "web", instances: 2 }] };
    expect(diffManifests(before, after, { redact: true })).toEqual([
      ["azs:", null],
      ["- name: z1", "added"],
      ["", null],
      ["instance_groups:", null],
      ["- name: web", null],
      ["  instances: 1", "removed"],
      ["  instances: 2", "added"],
    ]);
  });

  it("adds everything for a first deploy, section by section", () => {
    const text = diff(
      "",
      "name: shop\nupdate: {canaries: 1}\nstemcells:\n- {alias: a, version: '1'}\ntags: {}\nreleases: []\n",
    );
    expect(text).toBe(
      [
        "+ stemcells:",
        "+ - alias: a",
        "+   version: '1'",
        "",
        "+ update:",
        "+   canaries: 1",
        "",
        "+ name: shop",
        "",
        "+ tags: {}",
        "",
        "+ releases: []",
      ].join("\n"),
    );
  });

  it("is empty for equal documents, whatever the order of keys", () => {
    expect(diff("a: {x: 1, y: 2}\nb: 1", "b: 1\na: {y: 2, x: 1}")).toBe("");
    expect(diff(SHOP, SHOP)).toBe("");
  });

  it("matches items by name, or by range", () => {
    const before =
      "networks: [{name: n, subnets: [{range: 10.0.0.0/24, gateway: 10.0.0.1}, {range: 10.1.0.0/24}]}]";
    const after =
      "networks: [{name: n, subnets: [{range: 10.0.0.0/24, gateway: 10.0.0.2}, {range: 10.2.0.0/24}]}]";
    expect(diff(before, after)).toBe(
      [
        "  networks:",
        '  - name: "n"',
        "    subnets:",
        "    - range: 10.0.0.0/24",
        "-     gateway: 10.0.0.1",
        "+     gateway: 10.0.0.2",
        "+   - range: 10.2.0.0/24",
        "-   - range: 10.1.0.0/24",
      ].join("\n"),
    );
  });

  it("puts text into double quotes where Ruby does", () => {
    const after = `l: ["((a))", /var, "~", y, Y, "<a \\"b\\">", é, a_b, -1x, yes it, "'x'"]\n"/k": {"/k": {/x: 1}}`;
    expect(diff("{}", after)).toBe(
      [
        "+ l:",
        '+ - "((a))"',
        '+ - "/var"',
        '+ - "~"',
        '+ - "y"',
        "+ - Y",
        `+ - <a "b">`,
        "+ - é",
        "+ - a_b",
        '+ - "-1x"',
        "+ - yes it",
        `+ - "'x'"`,
        "",
        '+ "/k":',
        '+   "/k":',
        '+     "/x": 1',
      ].join("\n"),
    );
    expect(diff('"/k": {"/k": {/x: 1}}', '"/k": {"/k": {/x: 2}}')).toBe(
      ["  /k:", "    /k:", '-     "/x": 1', '+     "/x": 2'].join("\n"),
    );
  });

  it("shows items without names whole, and scalars that changed twice", () => {
    expect(diff("l: [a, b]\nk: 1\nm: {x: 1}", "l: [b, c]\nk: [1]\nm: 3")).toBe(
      [
        "  l:",
        "+ - c",
        "- - a",
        "",
        "- k: 1",
        "",
        "+ k:",
        "+ - 1",
        "",
        "- m:",
        "-   x: 1",
        "",
        "+ m: 3",
      ].join("\n"),
    );
  });

  it("keeps a block of text together", () => {
    expect(diff("a: {}", 'a: {cert: "one\\n\\n- two\\n"}')).toBe(
      ["  a:", "+   cert: |", "+     one", "+", "+     - two"].join("\n"),
    );
  });
});

describe("what a deployment is diffed as", () => {
  it("is the manifest with its cloud configs", () => {
    const cloud = [
      { azs: [{ name: "z1" }], compilation: { workers: 1 } },
      { azs: [{ name: "z2" }], networks: [] },
      null,
    ];
    expect(diffDocument({ name: "shop", azs: "mine" }, cloud)).toEqual({
      name: "shop",
      azs: "mine",
      compilation: { workers: 1 },
      networks: [],
    });
    expect(diffDocument({ name: "shop" }, cloud)).toMatchObject({ azs: [{ name: "z1" }, { name: "z2" }] });
    expect(diffDocument(null, [])).toEqual({});
  });
});

describe("redaction", () => {
  const before = `
releases: [{name: r, version: '1', url: 'https://user:canary-old@host/x'}]
instance_groups:
- name: web
  jobs: [{name: j, properties: {pw: canary-old, deep: [{k: canary-old}]}}]
  env: {bosh: {password: canary-old}, plain: seen-old}
`;
  const after = before.replaceAll("old", "new");

  it("shows that something changed, not what", () => {
    const text = diff(before, after);
    expect(text).not.toContain("canary");
    expect(text).toContain('-       pw: "<redacted>"');
    expect(text).toContain('+       password: "<redacted>"');
    expect(text).toContain("plain: seen-new");
    expect(text).toContain("url: https://<redacted>:<redacted>@host/x");
  });

  it("is left out on demand", () => expect(diff(before, after, false)).toContain("pw: canary-new"));

  it("never lets a leaf of properties through, wherever it is", () => {
    const inner = fc.dictionary(
      fc.constantFrom("a", "b", "name"),
      fc.oneof(fc.constant("canary"), fc.array(fc.constant("canary"))),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(inner, inner, fc.constantFrom("properties", "bosh"), (one, other, key) => {
        const wrap = (value: unknown) => ({ top: [{ name: "x", [key]: value }], [key]: value });
        const text = JSON.stringify(diffManifests(wrap(one), wrap(other), { redact: true }));
        expect(text).not.toContain("canary");
      }),
    );
  });
});

describe("any two documents", () => {
  it("give lines of two elements, none only when they are equal", () => {
    const tree = fc.dictionary(
      fc.constantFrom("name", "azs", "releases", "a: b", "x"),
      fc.jsonValue({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const lines = diffManifests(one, other, { redact: true });
        for (const line of lines) expect(line).toHaveLength(2);
        expect(diffManifests(one, one, { redact: true })).toEqual([]);
      }),
      { numRuns: tries(300) },
    );
  });

  it("one change is one place", () => {
    const after = applyOps(
      parseYaml(SHOP, "m"),
      [{ type: "replace", path: "/instance_groups/name=web/instances", value: 5 }],
      "o",
    );
    expect(printed(diffManifests(parseYaml(SHOP, "m"), after, { redact: true }))).toBe(
      ["  instance_groups:", "  - name: web", "-   instances: 3", "+   instances: 5"].join("\n"),
    );
  });

  it("what is no map counts as empty", () => {
    expect(diffManifests(null, "x", { redact: true })).toEqual([]);
    expect(diffManifests(undefined, { a: 1 }, { redact: false })).toEqual([["a: 1", "added"]]);
  });
});
