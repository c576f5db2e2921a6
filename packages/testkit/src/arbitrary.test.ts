import { open } from "@slipway/protocol/schema/json";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { arbitraryFor, mutated } from "./arbitrary.ts";

describe("values made for a schema", () => {
  const schema = open({
    name: v.string(),
    size: v.optional(v.number()),
    mood: v.nullable(v.picklist(["a", "b"])),
  });
  const seen = fc.sample(arbitraryFor(schema), { numRuns: 500, seed: 1 }) as Record<string, unknown>[];

  it("leave out what may be left out, sometimes, and never what must be there", () => {
    expect(seen.every((value) => "name" in value && "mood" in value)).toBe(true);
    expect(seen.some((value) => "size" in value)).toBe(true);
    expect(seen.some((value) => !("size" in value))).toBe(true);
  });

  it("use every word, null, and keys the schema does not know", () => {
    expect(new Set(seen.map((value) => value.mood))).toEqual(new Set(["a", "b", null]));
    expect(seen.some((value) => Object.keys(value).length > 3)).toBe(true);
  });

  it("cannot be made for a kind of schema nobody has taught", () => {
    expect(() => arbitraryFor(v.date())).toThrow("no values are known for a leaf of type date");
  });
});

describe("spoiled values", () => {
  const value = { a: [1, "x"], b: { c: null } };
  const seen = fc.sample(mutated(value), { numRuns: 2000, seed: 1 });
  const some = (test: (one: Record<string, unknown>) => boolean) =>
    seen.some((one) => typeof one === "object" && one !== null && test(one as Record<string, unknown>));

  it("have other types, missing keys, keys like prototypes, swapped parts and deep nesting among them", () => {
    expect(seen.some((one) => typeof one !== "object")).toBe(true);
    expect(some((one) => typeof one.b === "number")).toBe(true);
    expect(some((one) => !Object.hasOwn(one, "a") && Object.hasOwn(one, "b"))).toBe(true);
    expect(some((one) => Object.hasOwn(one, "__proto__"))).toBe(true);
    expect(some((one) => Array.isArray(one.b) && one.b[0] === 1)).toBe(true);
    expect(some((one) => JSON.stringify(one).includes('[{"x":'.repeat(50)))).toBe(true);
  });

  it("leave the value itself and the prototype of all objects alone", () => {
    expect(value).toEqual({ a: [1, "x"], b: { c: null } });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
