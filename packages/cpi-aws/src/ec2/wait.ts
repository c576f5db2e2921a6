import { delayBefore } from "@slipway/kernel/backoff";
import { systemRandom } from "@slipway/kernel/random";
import type { AwsCloud } from "../cloud.ts";
import { StateNotReached } from "../errors.ts";

const POLLS = { tries: 0, firstDelayMs: 300, longestDelayMs: 5_000 };

/**
 * Looks again until `look` returns something. The deadline of the CPI call ends it, or `withinMs` where a shorter time
 * tells enough.
 */
export async function waitFor<T>(
  cloud: AwsCloud,
  look: () => Promise<T | undefined>,
  late: {
    readonly withinMs: number;
    readonly what: string;
    readonly wanted: string;
    readonly is: () => string;
  },
): Promise<T> {
  const since = cloud.clock.monotonic();
  for (let attempt = 1; ; attempt++) {
    const found = await look();
    if (found !== undefined) return found;
    if (cloud.clock.monotonic() - since > late.withinMs)
      throw StateNotReached({ what: late.what, wanted: late.wanted, is: late.is() });
    await cloud.clock.sleep(delayBefore(attempt, POLLS, systemRandom), cloud.signal);
  }
}

/** EC2 shows what was just made with a delay, most often of less than a second. */
export const CONSISTENT_WITHIN_MS = 60_000;
export const SETTLED_WITHIN_MS = 600_000;
