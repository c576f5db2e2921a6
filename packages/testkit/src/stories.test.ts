import { expect, it, vi } from "vitest";
import { QUICK_SEED, SCOPE_VARIABLE, SEED_VARIABLE } from "./sample.ts";
import { plays } from "./stories.ts";

const SEEDS = Array.from({ length: 200 }, (_, at) => String(at));

function seedsThatPlay(scope: string): number {
  vi.stubEnv(SCOPE_VARIABLE, scope);
  return SEEDS.filter((seed) => {
    vi.stubEnv(SEED_VARIABLE, seed);
    return plays("director", "demo");
  }).length;
}

it("a story is played with some seeds, and always in a whole run", () => {
  expect(seedsThatPlay("")).toBeGreaterThan(0);
  expect(seedsThatPlay("")).toBeLessThan(SEEDS.length / 2);
  expect(seedsThatPlay("all")).toBe(SEEDS.length);
});

it("the quick set plays the same named stories in every run", () => {
  vi.stubEnv(SCOPE_VARIABLE, "");
  vi.stubEnv(SEED_VARIABLE, QUICK_SEED);
  expect(plays("director", "demo")).toBe(true);
  expect(plays("director", "watch")).toBe(false);
  expect(plays("environment", "jobs")).toBe(true);
});
