import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import { describe, expect, it } from "vitest";
import { globMatcher } from "./glob.ts";

describe("a log filter", () => {
  it.each([
    ["a.log", ["a.log"], ["axlog", "a.log2", "b/a.log"]],
    ["*.log", ["a.log", ".log"], ["a/b.log", "a.log.1"]],
    ["a/?.log", ["a/b.log"], ["a/.log", "a/bc.log", "a//.log"]],
    ["**/*", ["a", "a/b", "a/b/c.log"], ["a//", "/a"]],
    ["**/x.log", ["x.log", "a/x.log", "a/b/x.log"], ["ax.log", "/x.log", "a//x.log"]],
    ["a/**", ["a/b.log", "a/b/c.log", "a/"], ["a", "b/a/c"]],
    ["a/**/b", ["a/b", "a/c/b", "a/c/d/b"], ["a/cb", "ab"]],
    ["a**b/*", ["ab/c", "a/x/b/c"], ["ab/c/d"]],
    ["**/a*/**/*b.log", ["ax/b.log", "x/a/y/z/ab.log"], ["x/y/b.log", "a.b.log"]],
    ["[a]{b,c}", ["[a]{b,c}"], ["ab", "ac"]],
    ["", [""], ["a"]],
  ])("%j matches %j, and not %j", (glob, matched, others) => {
    const matches = globMatcher(glob);
    expect(matched.filter(matches)).toEqual(matched);
    expect(others.filter(matches)).toEqual([]);
  });

  it("takes time as a name grows, not with its square", async () => {
    const matches = globMatcher("*a*b");
    const work = (size: number) => {
      const name = "a".repeat(1000 * size);
      for (let time = 0; time < 40; time += 1) expect(matches(name)).toBe(false);
    };
    expect(await growth(work)).toBeLessThan(EVEN_GROWTH);
  });
});
