import { createHash } from "node:crypto";

/** Milliseconds of the work below on a quiet machine of the kind that CI has. */
const QUIET_MS = 30;
const ROUNDS = 40;
const PIECE = Buffer.alloc(1 << 20, 7);

/**
 * Returns how many times slower than a quiet machine this one is now, from 1 to `most`. Measures elapsed time, since what
 * slows tests down is mostly other programs on the same processors.
 */
export function slowness(most: number, elapsed: () => number = hashFor): number {
  return Math.min(most, Math.max(1, elapsed() / QUIET_MS));
}

function hashFor(): number {
  const begin = performance.now();
  const hash = createHash("sha256");
  for (let round = 0; round < ROUNDS; round++) hash.update(PIECE);
  hash.digest();
  return performance.now() - begin;
}
