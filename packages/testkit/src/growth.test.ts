import { describe, expect, it } from "vitest";
import { EVEN_GROWTH, growth } from "./growth.ts";

/** Enough turns that the clock of the processor sees them. */
const TURNS = 1_000_000;

function turn(times: number): number {
  let sum = 0;
  for (let i = 0; i < times; i += 1) sum = (sum * 31 + i) % 1_000_003;
  return sum;
}

describe("the growth of work", () => {
  it("is told apart: as its input, or with the square of it", async () => {
    expect(await growth((size) => turn(size * TURNS))).toBeLessThan(EVEN_GROWTH);
    expect(await growth((size) => turn(size * size * TURNS))).toBeGreaterThan(EVEN_GROWTH);
  });
});
