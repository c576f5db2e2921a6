import fc from "fast-check";
import { seed } from "./sample.ts";

/** Seed for the inputs of properties: the run's seed, as for everything that chance decides. */
const number = Number.parseInt(seed().slice(0, 8), 16);
if (!Number.isNaN(number)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: number | 0 });
