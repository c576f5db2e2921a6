import { freePort as freePortBy } from "@slipway/kernel/ports";
import { systemRandom } from "@slipway/kernel/random";

/** A port of loopback for a server that is started later. */
export const freePort = (): Promise<number> => freePortBy(systemRandom);
