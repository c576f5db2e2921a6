import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import { DOCUMENTS } from "@slipway/testkit/wire-documents";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { check, kindOf, matches } from "./check.ts";
import { integer, json, jsonObject, mapOf, open, openWith, text } from "./json.ts";
import type { Schema } from "./marks.ts";

const problems = (schema: Schema, value: unknown, root = "") => {
  const checked = check(schema, value, root);
  return checked.ok ? [] : checked.problems;
};

describe("a check", () => {
  it("hands back the value itself, with keys the schema does not know", () => {
    const value = { a: "x", other: { deep: [1] } };
    const checked = check(open({ a: v.string() }), value);
    expect(checked.ok && checked.value).toBe(value);
  });

  it.each<[string, Schema, unknown, string, string]>([
    ["a wrong type", open({ a: v.string() }), { a: 7 }, "", "a: expected string, got a number"],
    ["a missing key", open({ a: v.string() }), {}, "", "a: it is missing"],
    ["a missing key under a root", open({ a: v.string() }), {}, "settings", "settings.a: it is missing"],
    ["the value itself", v.string(), 7, "", "the value: expected string, got a number"],
    ["the root", v.string(), null, "result", "result: expected string, got null"],
    [
      "a place in lists",
      open({ a: v.array(v.array(v.string())) }),
      { a: [["x"], ["x", 7]] },
      "",
      "a[1][1]: expected string, got a number",
    ],
    [
      "a place in maps",
      mapOf(open({ b: v.boolean() })),
      { "disk-1": { b: "yes" } },
      "",
      "disk-1.b: expected boolean, got a string",
    ],
    [
      "a rule of ours",
      open({ n: integer(1, "size") }),
      { n: 0 },
      "",
      "n: size must be a whole number of at least 1",
    ],
    ["an empty text", open({ id: text("an id") }), { id: "" }, "", "id: an id must not be empty"],
    ["a word not on the list", v.picklist(["a", "b"]), "c", "x", 'x: expected ("a" | "b"), got a string'],
    [
      "too much in a tuple",
      v.strictTuple([v.string()]),
      ["a", "b"],
      "r",
      "r[1]: expected nothing more, got a string",
    ],
    ["too little in a tuple", v.strictTuple([v.string(), v.string()]), ["a"], "r", "r[1]: it is missing"],
    ["an array for an object", open({}), [], "x", "x: expected an object"],
    ["an array for an object with a rest", openWith({}, json()), [], "x", "x: expected an object"],
    ["an array for any object", jsonObject(), [], "x", "x: expected an object"],
    ["an array for a map", mapOf(v.string()), [], "x", "x: expected an object"],
    ["nothing for anything", json(), undefined, "x", "x: expected a JSON value"],
  ])("names the place and the rule for %s", (_, schema, value, root, text_) => {
    expect(problems(schema, value, root)).toEqual([text_]);
  });

  it("says that a key is not known, and which one may have been meant, wherever it is", () => {
    const inner = v.strictObject({ password: v.string(), scopes: v.optional(v.array(v.string())) });
    const schema = v.strictObject({
      users: v.optional(v.array(v.optional(inner))),
      peers: v.optional(
        v.record(
          v.string(),
          v.pipe(
            inner,
            v.check(() => true),
          ),
        ),
      ),
    });
    expect(problems(schema, { userz: [] }, "config")).toEqual([
      "config.userz: this key is not known; did you mean users?",
    ]);
    expect(problems(schema, { users: [{ password: "p", scope: [] }] }, "config")).toEqual([
      "config.users[0].scope: this key is not known; did you mean scopes?",
    ]);
    expect(problems(schema, { peers: { a: { password: "p", pasword: "q" } } })).toEqual([
      "peers.a.pasword: this key is not known; did you mean password?",
    ]);
    expect(problems(schema, { unrelated: 1 })).toEqual(["unrelated: this key is not known"]);
  });

  it("names the place inside the form that comes nearest, when there are several", () => {
    const either = v.union([v.string(), open({ lun: v.string() })], "expected a hint");
    expect(problems(either, { lun: 7 }, "hint")).toEqual(["hint.lun: expected string, got a number"]);
    expect(problems(either, 7, "hint")).toEqual(["hint: expected a hint"]);
    expect(problems(open({ disks: mapOf(either) }), { disks: { d: { lun: 7 } } })).toEqual([
      "disks.d.lun: expected string, got a number",
    ]);
    const nested = v.union([v.literal(""), either]);
    expect(problems(nested, { lun: 7 }, "hint")).toEqual(["hint.lun: expected string, got a number"]);
  });

  it("reports five problems and counts the others", () => {
    const list = Array.from({ length: 9 }, () => 7);
    const told = problems(v.array(v.string()), list);
    expect(told).toHaveLength(6);
    expect(told.at(-1)).toBe("and 4 more");
  });

  it("does not print keys that are no names", () => {
    const told = problems(mapOf(v.string()), { "a b\n": 7, ["x".repeat(100)]: 7 });
    expect(told).toEqual(["(key): expected string, got a number", "(key): expected string, got a number"]);
  });

  it.each(["__proto__", "constructor", "prototype"])("refuses the name %s in a map", (name) => {
    const value = JSON.parse(`{"${name}":"x"}`) as unknown;
    expect(problems(mapOf(v.string()), value, "m")).toEqual([
      "m: must not use the names __proto__, constructor, prototype",
    ]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1.5, 0, -1, "1", null])(
    "takes %s for no size",
    (n) => {
      expect(matches(integer(1), n)).toBe(false);
    },
  );
});

describe("the kind of a value", () => {
  it.each([
    [null, "null"],
    [undefined, "nothing"],
    [[], "an array of 0"],
    [[1, 2], "an array of 2"],
    ["", "an empty string"],
    ["x", "a string"],
    [{}, "an object"],
    [7, "a number"],
    [true, "a boolean"],
  ])("the kind of %j is %s", (value, kind) => {
    expect(kindOf(value)).toBe(kind);
  });
});

describe("a refusal", () => {
  const CANARY = "canary-7c1f";
  /** Every text and number becomes a canary; keys stay. */
  const planted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(planted);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, planted(inner)]));
    return typeof value === "boolean" || value === null ? value : CANARY;
  };

  it.each(Object.entries(DOCUMENTS))("of %s never quotes a value", (_, schema) => {
    fc.assert(
      fc.property(arbitraryFor(schema).chain(mutated), (value) => {
        expect(problems(schema, planted(value)).join("\n")).not.toContain(CANARY);
      }),
      { numRuns: tries(60) },
    );
  });
});
