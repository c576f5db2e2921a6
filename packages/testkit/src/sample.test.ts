import { describe, expect, it, vi } from "vitest";
import { chosen, fractionsOf, rounds, SCOPE_VARIABLE, SEED_VARIABLE, sampleOf } from "./sample.ts";

const ALL = Array.from({ length: 50 }, (_, at) => at);

function inRun<T>(seed: string, scope: string, what: () => T): T {
  vi.stubEnv(SEED_VARIABLE, seed);
  vi.stubEnv(SCOPE_VARIABLE, scope);
  return what();
}

describe("a sample", () => {
  it("is the same for the same seed, another for another, and keeps the order", () => {
    const take = (seed: string) => inRun(seed, "", () => sampleOf("things", ALL, 10));
    expect(take("1")).toHaveLength(10);
    expect(take("1")).toEqual(take("1"));
    expect(take("1")).not.toEqual(take("2"));
    expect(take("1")).toEqual([...take("1")].sort((a, b) => a - b));
  });

  it("is everything in a whole run", () => {
    expect(inRun("1", "all", () => sampleOf("things", ALL, 10))).toEqual(ALL);
    expect(inRun("1", "all", () => rounds({ sample: 1, all: 20 }))).toBe(20);
    expect(inRun("1", "", () => rounds({ sample: 1, all: 20 }))).toBe(1);
  });

  it("a single test is chosen as often as its share says, and always in a whole run", () => {
    const took = (scope: string) => ALL.filter((seed) => inRun(`${seed}`, scope, () => chosen("one", 1 / 3)));
    expect(took("").length).toBeGreaterThan(ALL.length / 6);
    expect(took("").length).toBeLessThan(ALL.length / 2);
    expect(took("all")).toEqual(ALL);
  });

  it("samples of many seeds leave nothing out", () => {
    const seen = new Set(ALL.flatMap((seed) => inRun(`${seed}`, "", () => sampleOf("things", ALL, 10))));
    expect(seen.size).toBe(ALL.length);
  });

  it("has random numbers of its own, the same for the same seed", () => {
    const numbers = (seed: string) =>
      inRun(seed, "", () => {
        const next = fractionsOf("moments");
        return ALL.map(next);
      });
    expect(numbers("1")).toEqual(numbers("1"));
    expect(numbers("1")).not.toEqual(numbers("2"));
    expect(new Set(numbers("1")).size).toBe(ALL.length);
    for (const one of numbers("1")) expect(one >= 0 && one < 1).toBe(true);
  });
});
