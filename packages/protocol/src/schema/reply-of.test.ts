import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { mapOf, open } from "./json.ts";
import { type ReplyOf, replyProblems } from "./reply-of.ts";

const item = open({ id: v.string(), team: v.nullish(v.string()), error: v.optional(v.string()) });

describe("what we tell by a schema", () => {
  it("has every field that is not optional, and nothing else", () => {
    expect(replyProblems(item, { id: "1", team: null })).toEqual([]);
    expect(replyProblems(item, { id: "1", team: "a", error: "b" })).toEqual([]);
    expect(replyProblems(item, { id: "1" })).toEqual(["answer.team: it is left out, say null"]);
    expect(replyProblems(item, { id: "1", team: null, secret: "x" })).toEqual([
      "answer.secret: its schema does not name it (a string)",
    ]);
    expect(replyProblems(item, { id: 1, team: null })).toEqual(["answer.id: expected string, got a number"]);
  });

  it("is looked at in lists, maps, choices and what may be missing", () => {
    const many = open({ list: v.array(item), map: mapOf(item), one: v.nullish(v.union([v.number(), item])) });
    const good = { id: "1", team: null };
    expect(replyProblems(many, { list: [good], map: { a: good }, one: good })).toEqual([]);
    expect(replyProblems(many, { list: [good], map: { a: good }, one: null })).toEqual([]);
    expect(
      replyProblems(many, { list: [{ id: "1" }], map: { a: { ...good, b: 1 } }, one: { id: "2" } }),
    ).toEqual([
      "answer.list[0].team: it is left out, say null",
      "answer.map.a.b: its schema does not name it (a number)",
      "answer.one.team: it is left out, say null",
    ]);
  });

  it("is so for the compiler, too", () => {
    const told: ReplyOf<typeof item> = { id: "1", team: null };
    // @ts-expect-error: the team is left out
    const short: ReplyOf<typeof item> = { id: "1" };
    // @ts-expect-error: nobody declared it
    const long: ReplyOf<typeof item> = { id: "1", team: null, secret: "x" };
    expect([told, short, long].map(({ id }) => id)).toEqual(["1", "1", "1"]);
  });
});
