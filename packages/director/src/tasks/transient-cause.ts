import { messageTrail, SlipwayError } from "@slipway/kernel/errors";
import { DiskFull, StoreFull, StoreLost } from "../store/errors.ts";
import { causes, oneLine } from "./failure.ts";

/** Reports how much space there is for what tasks write. */
export interface Space {
  /** Says so when there is too little to begin anything; undefined while there is enough. */
  shortage(): string | undefined;
  /** The same of the time since a moment of the monotonic clock, even when it has passed. */
  shortageSince(moment: number): string | undefined;
}

/**
 * Returns why a task cannot go on for a while, in words: the store is gone, or there is no space. Undefined if the error is the
 * task's own, and ends it. `begun` is the moment the run began: what a shortage has broken often comes to light when there is
 * room again.
 */
export function transientCause(error: unknown, space: Space | undefined, begun: number): string | undefined {
  const chain = causes(error);
  const store = chain.find((one): one is SlipwayError => StoreLost.is(one) || StoreFull.is(one));
  if (store !== undefined) return oneLine(messageTrail(store));
  // A disk that is full elsewhere, such as one of a VM, is for the operator. Without space here, whatever else goes
  // wrong may come of it: a log that could have said so is full, too.
  const mistake = chain.some(
    (one) => one instanceof SlipwayError && one.kind === "operator" && !DiskFull.is(one),
  );
  return mistake ? undefined : space?.shortageSince(begun);
}
