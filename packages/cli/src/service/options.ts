import type { Option } from "../command.ts";

/** Options that say which service is meant. */
export const SERVICE_OPTIONS: readonly Option[] = [
  { flags: "--user", about: "of this user; the default, unless you are root" },
  { flags: "--system", about: "of the machine; the default for root" },
  { flags: "--name <name>", about: "for several, each with a SLIPWAY_HOME of its own; default: slipway" },
];
