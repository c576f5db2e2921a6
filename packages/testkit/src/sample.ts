import { createHash } from "node:crypto";

/** Set to `all` by `npm run test:all`. */
export const SCOPE_VARIABLE = "SLIPWAY_TEST";
/** Decides samples and random numbers. `global-setup.ts` sets it to `QUICK_SEED` unless the caller has set it. */
export const SEED_VARIABLE = "SLIPWAY_SEED";
/** Seed of `npm test`: its sample of long suites is the same in every run. `npm run test:random` tries other seeds. */
export const QUICK_SEED = "5eed0001";
/** Names the directory that the workers of one test run share. `global-setup.ts` makes it and removes it. */
export const RUN_VARIABLE = "SLIPWAY_TEST_RUN";

/** Tells whether long suites are run whole; `npm test` takes a sample of them. */
export const whole = (): boolean => process.env[SCOPE_VARIABLE] === "all";

/** Returns the seed of this run, for the title of a test: it repeats a failure. */
export const seed = (): string => process.env[SEED_VARIABLE] ?? "none";

/**
 * Returns all elements in a whole run, else `count` of them, which the run's seed chooses. They stay in their order. `what`
 * tells samples of one run apart.
 */
export function sampleOf<T>(what: string, all: readonly T[], count: number): readonly T[] {
  if (whole() || count >= all.length) return all;
  const chosen = new Set(seededOrder(what, all.length).slice(0, count));
  return all.filter((_, at) => chosen.has(at));
}

/** For a single long test: `it.runIf(chosen("name", 1 / 3))`. `npm test` runs it with one seed in three. */
export const chosen = (what: string, share: number): boolean => whole() || fractionsOf(what)() < share;

/** How often something random is tried. */
export const rounds = (counts: { readonly sample: number; readonly all: number }): number =>
  whole() ? counts.all : counts.sample;

/** Numbers from 0 to 1, always the same ones for a seed and a name. */
export function fractionsOf(what: string): () => number {
  let count = 0;
  return () => {
    count += 1;
    return Number.parseInt(hashOf(what, count).slice(0, 12), 16) / 2 ** 48;
  };
}

/** The numbers from 0 to n - 1 in an order that the run's seed decides. */
export function seededOrder(what: string, n: number): readonly number[] {
  return Array.from({ length: n }, (_, at) => ({ at, key: hashOf(what, at) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ at }) => at);
}

const hashOf = (what: string, at: number): string =>
  createHash("sha256").update(`${seed()} ${what} ${at}`).digest("hex");
