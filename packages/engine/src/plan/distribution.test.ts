import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Choice, spreadEvenly, type Zone } from "./distribution.ts";

const count = (list: readonly Choice[]) => {
  const counts: Record<string, number> = {};
  for (const { azs } of list) counts[String(azs[0])] = (counts[String(azs[0])] ?? 0) + 1;
  return counts;
};
const lists = (...texts: string[]): Choice[][] =>
  texts.map((text) => text.split(" ").map((one) => ({ azs: one.split("/") })));

describe("static addresses of several zones", () => {
  it.each([
    ["one network, evenly", ["a/b a/b a/b a/b"], {}, { a: 2, b: 2 }],
    ["one network, beside what is there", ["a/b a/b"], { a: 2 }, { b: 2 }],
    ["two networks, as the stricter one needs", ["a b b", "a/b a/b a/b"], {}, { a: 1, b: 2 }],
    ["two networks that must meet in the middle", ["a a/b b/c", "a/c b c/b"], {}, { a: 1, b: 1, c: 1 }],
  ])("%s", (_, given, taken, expected) => {
    const made = lists(...given);
    expect(spreadEvenly(made, new Map<Zone, number>(Object.entries(taken)))).toBe(true);
    for (const list of made) expect(count(list)).toEqual(expected);
  });

  it.each([[["a a", "a b"]], [["a a", "a"]], [["a/b a/b", "c c"]]])("%o cannot be spread", (given) => {
    expect(spreadEvenly(lists(...given), new Map())).toBe(false);
  });

  it("are spread whenever there is a way", () => {
    const zones = fc.subarray(["a", "b", "c"], { minLength: 1 });
    const pair = fc.integer({ min: 1, max: 5 }).chain((n) => {
      const list = fc.array(zones, { minLength: n, maxLength: n });
      return fc.tuple(list, list);
    });
    fc.assert(
      fc.property(pair, (given) => {
        const made = given.map((list) => list.map((azs): Choice => ({ azs })));
        const [left, right] = given.map(reachable);
        const possible = [...(left ?? [])].some((one) => right?.has(one));
        expect(spreadEvenly(made, new Map())).toBe(possible);
        if (!possible) return;
        const [first, second] = made.map((list) => count(list));
        expect(first).toEqual(second);
        made.forEach((list, at) => {
          list.forEach(({ azs }, index) => {
            expect(azs).toHaveLength(1);
            expect(given[at]?.[index]).toContain(azs[0]);
          });
        });
      }),
    );
  });
});

/** All counts per zone some choice leads to, by trying every choice. */
function reachable(list: readonly (readonly string[])[]): ReadonlySet<string> {
  let all: readonly string[][] = [[]];
  for (const azs of list) all = all.flatMap((before) => azs.map((az) => [...before, az]));
  return new Set(all.map((one) => one.sort().join("")));
}
