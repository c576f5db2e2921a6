import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { ConfiguredClouds, type ConfiguredCloudsOptions } from "../configured-clouds.ts";
import type { CpiPort } from "../cpi-port.ts";
import { DIRECTOR } from "./cpi-files.ts";

export const noCpi: CpiPort = {
  command: "none",
  call: () => Promise.reject(new Error("nobody calls a CPI here")),
};

/** A Director's CPIs; what is not given is never called. */
export const configuredClouds = (given: Partial<ConfiguredCloudsOptions> = {}): ConfiguredClouds =>
  new ConfiguredClouds({
    own: { name: "", port: noCpi },
    programs: { byType: new Map(), paths: [], inProcess: new Map() },
    clock: systemClock,
    random: systemRandom,
    directorUuid: DIRECTOR,
    ...given,
  });
