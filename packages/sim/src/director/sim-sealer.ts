import { systemRandom } from "@slipway/kernel/random";
import { KEY_BYTES, sealerOf } from "@slipway/kernel/sealer";

/** The same for every process of a simulation: nothing in it is a secret. */
export const simSealer = sealerOf(Buffer.alloc(KEY_BYTES, 7), systemRandom);
