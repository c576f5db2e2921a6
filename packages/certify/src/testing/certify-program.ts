import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { certify } from "../session/certify.ts";

/** Certifies a CPI in a process of its own, to be killed: `certify-program CPI CONFIG RUNS`. */
const [cpi = "", config, runs = ""] = process.argv.slice(2);
void certify(
  { cpi, config, cloud: {}, image: undefined, versions: [2], only: ["CPI-VM", "CPI-DISK"], seed: "s" },
  { clock: systemClock, random: systemRandom, runs, stop: new AbortController().signal },
);
