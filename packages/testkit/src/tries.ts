import { rounds } from "./sample.ts";

/** How many random inputs a property is tried with: a quarter in `npm test`, whose inputs are others each time. */
export const tries = (all: number): number => rounds({ sample: Math.ceil(all / 4), all });
