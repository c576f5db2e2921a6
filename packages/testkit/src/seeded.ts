import fc from "fast-check";
import { seed } from "./sample.ts";

/** What properties are tried with is the run's seed to say, as everything that chance decides. */
const number = Number.parseInt(seed().slice(0, 8), 16);
if (!Number.isNaN(number)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: number | 0 });
