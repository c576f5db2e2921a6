import { freePort as freePortBy } from "../ports.ts";
import { systemRandom } from "../random.ts";

/** A port of loopback for a server that is started later. */
export const freePort = (): Promise<number> => freePortBy(systemRandom);
