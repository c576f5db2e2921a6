import { SlipwayError } from "@slipway/kernel/errors";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyOps, findAt } from "./ops.ts";
import { parseYaml } from "./yaml.ts";

const DOCUMENT = `
key: 1
map: {a: {b: 2}}
list: [x, y, z]
groups:
- {name: web, jobs: [{name: nginx, properties: {port: 80}}]}
- {name: db, port: 5432}
- {name: 7}
"a/b": {"~c": {"d:e": 3, "f?": 4, "g=h": 5}}
`;
const document = () => parseYaml(DOCUMENT, "m.yml");
type Op = Record<string, unknown>;
const apply = (...operations: Op[]) => applyOps(document(), operations, "ops.yml") as Record<string, unknown>;
const replace = (path: string, value: unknown): Op => ({ type: "replace", path, value });
const remove = (path: string): Op => ({ type: "remove", path });

describe("replace", () => {
  it.each<[string, unknown, string, unknown]>([
    ["/key", 2, "key", 2],
    ["/new?", 2, "new", 2],
    ["/map/a/b", 3, "map", { a: { b: 3 } }],
    ["/map/c?/d/e", 1, "map", { a: { b: 2 }, c: { d: { e: 1 } } }],
    ["/new?/-", 1, "new", [1]],
    ["/new?/name=x/v", 1, "new", [{ name: "x", v: 1 }]],
    ["/list/0", "A", "list", ["A", "y", "z"]],
    ["/list/-1", "Z", "list", ["x", "y", "Z"]],
    ["/list/-", "w", "list", ["x", "y", "z", "w"]],
    ["/list/0:next", "Y", "list", ["x", "Y", "z"]],
    ["/list/-1:prev", "Y", "list", ["x", "Y", "z"]],
    ["/list/0:before", "w", "list", ["w", "x", "y", "z"]],
    ["/list/-1:after", "w", "list", ["x", "y", "z", "w"]],
    ["/list/1:after", "w", "list", ["x", "y", "w", "z"]],
    [
      "/groups/name=web/jobs/name=nginx/properties/port",
      81,
      "groups",
      [
        { name: "web", jobs: [{ name: "nginx", properties: { port: 81 } }] },
        { name: "db", port: 5432 },
        { name: 7 },
      ],
    ],
    [
      "/groups/name=web/jobs",
      [],
      "groups",
      [{ name: "web", jobs: [] }, { name: "db", port: 5432 }, { name: 7 }],
    ],
    ["/groups/name=web:before", 0, "groups", [0, ...(document() as { groups: unknown[] }).groups]],
    [
      "/groups/name=web:next/port",
      1,
      "groups",
      [(document() as { groups: unknown[] }).groups[0], { name: "db", port: 1 }, { name: 7 }],
    ],
    [
      "/groups/name=new?",
      { name: "n" },
      "groups",
      [...(document() as { groups: unknown[] }).groups, { name: "n" }],
    ],
    [
      "/groups/name=new?/deep/x",
      1,
      "groups",
      [...(document() as { groups: unknown[] }).groups, { name: "new", deep: { x: 1 } }],
    ],
    ["/a~1b/~0c/d~7e", 9, "a/b", { "~c": { "d:e": 9, "f?": 4, "g=h": 5 } }],
    ["/a~1b/~0c/f~2", 9, "a/b", { "~c": { "d:e": 3, "f?": 9, "g=h": 5 } }],
    ["/a~1b/~0c/g~3h", 9, "a/b", { "~c": { "d:e": 3, "f?": 4, "g=h": 9 } }],
  ])("%s", (path, value, key, expected) => expect(apply(replace(path, value))[key]).toEqual(expected));

  it("the empty path is the whole document, / the empty key", () => {
    expect(apply(replace("", [1]))).toEqual([1]);
    expect(apply(replace("/?", 1))[""]).toBe(1);
  });

  it("a value used twice is not shared, and the input stays as it was", () => {
    const value = { x: [1] };
    const before = document();
    const after = applyOps(before, [replace("/a?", value), replace("/a/x/-", 2), replace("/b?", value)], "o");
    expect(after).toMatchObject({ a: { x: [1, 2] }, b: { x: [1] } });
    expect(value).toEqual({ x: [1] });
    expect(before).toEqual(document());
  });
});

describe("remove and test", () => {
  it.each<[string, string, unknown]>([
    ["/key", "key", undefined],
    ["/list/0", "list", ["y", "z"]],
    ["/list/-1:prev", "list", ["x", "z"]],
    ["/gone?/x/name=y/z", "key", 1],
    ["/groups/name=gone?", "key", 1],
    ["/map/a/b", "map", { a: {} }],
  ])("remove %s", (path, key, expected) => expect(apply(remove(path))[key]).toEqual(expected));

  it.each<[string, Op]>([
    ["a value", { type: "test", path: "/map/a", value: { b: 2 } }],
    ["absence", { type: "test", path: "/gone", absent: true }],
    ["absence further down", { type: "test", path: "/gone/x/y", absent: true }],
    ["absence of an item", { type: "test", path: "/groups/name=gone", absent: true }],
    ["absence of a number under its text", { type: "test", path: "/groups/name=7", absent: true }],
    ["absence beyond the end", { type: "test", path: "/list/9", absent: true }],
  ])("test of %s", (_, operation) => expect(apply(operation)).toEqual(document()));
});

describe("what stands at a path", () => {
  const find = (path: string) => findAt(document(), path, (why) => new Error(why));

  it.each<[string, unknown]>([
    ["", document()],
    ["/map/a", { b: 2 }],
    ["/list/-1", "z"],
    ["/list/0:next", "y"],
    ["/groups/name=db/port", 5432],
    ["/gone?", null],
    ["/gone?/x/y", null],
    ["/groups/name=gone?", { name: "gone" }],
    ["/groups/name=gone?/name", "gone"],
    ["/gone?/name=x", { name: "x" }],
  ])("%s", (path, expected) => expect(find(path)).toEqual(expected));

  it.each(["/gone", "/map/gone/x", "/gone?/0", "/list/3", "/list/-", "/groups/name=gone", "key", "/key/x"])(
    "%s leads nowhere",
    (path) => expect(() => find(path)).toThrow(),
  );
});

describe("what fails says which operation of which file", () => {
  it.each<[string, Op]>([
    ["a missing key", replace("/gone/x", 1)],
    ["a missing last key", replace("/gone", 1)],
    ["a key of a list", replace("/list/name", 1)],
    ["an index of a map", replace("/map/0", 1)],
    ["an index outside", replace("/list/3", 1)],
    ["a negative index outside", replace("/list/-4", 1)],
    ["before the first", replace("/list/0:prev", 1)],
    ["after the last", replace("/list/-1:next", 1)],
    ["no match", replace("/groups/name=gone", 1)],
    ["a number does not match its text", replace("/groups/name=7", 1)],
    ["an index cannot be made", replace("/new?/0", 1)],
    ["/- to remove", remove("/list/-")],
    ["before to remove", remove("/list/0:before")],
    ["the whole document", remove("")],
    ["a missing key to remove", remove("/gone")],
    ["a test of another value", { type: "test", path: "/key", value: "1" }],
    ["a test of absence", { type: "test", path: "/key", absent: true }],
    ["a test of nothing there", { type: "test", path: "/gone", value: 1 }],
    ["no type", { path: "/key", value: 1 }],
    ["no path", { type: "remove" }],
    ["no value", { type: "replace", path: "/key" }],
    ["a value to remove", { type: "remove", path: "/key", value: 1 }],
    ["a path without /", replace("key", 1)],
    ["an unknown modifier", replace("/list/0:above", 1)],
    ["a modifier of a key", replace("/key:next", 1)],
    ["after in the middle", replace("/list/0:after/x", 1)],
    ["__proto__", replace("/map/__proto__?/polluted", 1)],
  ])("%s", (_, operation) => {
    expect(() => apply(replace("/key", 5), operation)).toThrow(/^operation \[1\] in ops\.yml failed: ./);
  });

  it("a match that is not the only one", () => {
    expect(() => apply(replace("/groups/-", { name: "db" }), remove("/groups/name=db"))).toThrow(/found 2/);
  });

  it("no prototype was touched", () => expect(({} as Record<string, unknown>).polluted).toBeUndefined());

  it.each([null, {}, "x"])("%j is no ops file", (operations) =>
    expect(() => applyOps({}, operations, "ops.yml")).toThrow(/^ops\.yml: /),
  );
});

describe("any operation", () => {
  const path = fc
    .array(
      fc.constantFrom(
        "key",
        "map",
        "list",
        "groups",
        "a",
        "b",
        "0",
        "-1",
        "-",
        "name=web",
        "name=x",
        "x",
        "x?",
        "name=x?",
        "0:before",
        "name=web:after",
        "list:next",
        "~1",
        "",
        "constructor",
      ),
      { maxLength: 5 },
    )
    .map((pieces) => pieces.map((piece) => `/${piece}`).join(""));

  it("ends in a document or an error of ours", () => {
    const operation = fc.record(
      {
        type: fc.constantFrom("replace", "remove", "test", "x"),
        path: fc.oneof(path, fc.string()),
        value: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 4 }), (operations) => {
        try {
          applyOps(document(), operations, "ops.yml");
        } catch (error) {
          expect(error).toBeInstanceOf(SlipwayError);
        }
      }),
      { numRuns: tries(1000) },
    );
  });

  it("a test operation passes for the value that a replace has set", () => {
    const key = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 4 }), fc.jsonValue(), (keys, value) => {
        const [first = "", ...rest] = keys.map((one) => `n${one}`);
        const at = (mark: string) => `/${[`${first}${mark}`, ...rest].join("/")}`;
        const operations = [replace(at("?"), value), { type: "test", path: at(""), value }];
        expect(applyOps(document(), operations, "o")).toHaveProperty(first);
      }),
    );
  });
});
