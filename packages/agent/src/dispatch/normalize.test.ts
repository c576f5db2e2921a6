import { AGENT_MESSAGES } from "@slipway/protocol/agent/messages";
import { matches } from "@slipway/protocol/schema/check";
import { mapOf, open, openWith, text } from "@slipway/protocol/schema/json";
import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { normalize } from "./normalize.ts";

describe("normalize", () => {
  it("gives known keys their name whatever the case, at every depth, and leaves the others", () => {
    const schema = open({
      user: v.string(),
      list: v.array(open({ cid: v.string() })),
      by: mapOf(open({ a: v.number() })),
    });
    expect(
      normalize(schema, { USER: "x", List: [{ Cid: "1", Other: 2 }], by: { Key: { A: 1 } }, Unknown: null }),
    ).toEqual({ user: "x", list: [{ cid: "1", Other: 2 }], by: { Key: { a: 1 } }, Unknown: null });
  });

  it("takes the last of several spellings", () => {
    expect(normalize(open({ a: v.number() }), { a: 1, A: 2 })).toEqual({ a: 2 });
  });

  it("reads null as the empty value of its kind where null is not a value", () => {
    const fields = {
      text: v.string(),
      number: v.number(),
      flag: v.boolean(),
      list: v.array(v.string()),
      map: mapOf(v.string()),
      fields: open({}),
      word: v.picklist(["a", "b"]),
      either: v.union([v.string(), v.number()]),
    };
    expect(
      normalize(open(fields), Object.fromEntries(Object.keys(fields).map((key) => [key, null]))),
    ).toEqual({
      text: "",
      number: 0,
      flag: false,
      list: [],
      map: {},
      fields: {},
      word: "",
      either: "",
    });
  });

  it("keeps null where it is a value and drops it where the field may be missing", () => {
    const schema = open({
      kept: v.nullable(v.string()),
      dropped: v.optional(text()),
      both: v.optional(v.nullable(v.string())),
    });
    expect(normalize(schema, { kept: null, dropped: null, both: null })).toEqual({ kept: null, both: null });
  });

  it("reads a value of several forms by the first that fits", () => {
    const schema = v.union([text(), openWith({ path: v.optional(text()) }, text())]);
    expect(normalize(schema, "/dev/sdc")).toBe("/dev/sdc");
    expect(normalize(schema, { PATH: "/dev/sdc", X: "y" })).toEqual({ path: "/dev/sdc", X: "y" });
    expect(normalize(schema, 7)).toBe(7);
  });

  it("leaves every valid argument of every message valid", () => {
    for (const message of Object.values(AGENT_MESSAGES))
      for (const arg of message.args)
        fc.assert(
          fc.property(arbitraryFor(arg.schema), (value) => {
            const read = normalize(arg.schema, value);
            expect(matches(arg.schema, read)).toBe(true);
          }),
          { numRuns: tries(20) },
        );
  });
});
