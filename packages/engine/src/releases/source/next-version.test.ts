import { describe, expect, it } from "vitest";
import { nextDevVersion, nextFinalVersion } from "./next-version.ts";

describe("the next version of a release", () => {
  it.each([
    [[], [], "0+dev.1"],
    [["0+dev.1", "0+dev.10", "0+dev.9"], [], "0+dev.11"],
    [["0+dev.1"], ["1"], "1+dev.1"],
    [["1+dev.3"], ["1"], "1+dev.4"],
    [["1+dev.3"], ["2.1"], "2.1+dev.1"],
    [["2.0-beta.1"], [], "2.0-beta.1+dev.1"],
    [["1+build"], [], undefined],
    [["1+dev.01"], [], undefined],
  ])("after dev %j and final %j it is %s", (dev, final, next) => {
    expect(nextDevVersion(dev, final)).toBe(next);
  });

  it("has the time where that is asked for", () => {
    expect(nextDevVersion(["1.2+dev.5"], [], 1700000000)).toBe("1.2+dev.1700000000");
  });

  it.each([
    [[], "1"],
    [["1", "9", "10"], "11"],
    [["1.2.3"], "1.2.4"],
    [["1.2-rc.1"], "1.3"],
    [["1.2+dev.4"], "1.3"],
    [["1.x"], undefined],
  ])("after final %j the final one is %s", (final, next) => {
    expect(nextFinalVersion(final)).toBe(next);
  });
});
