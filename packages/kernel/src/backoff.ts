import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

export interface Backoff {
  readonly tries: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export interface RetryTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal?: AbortSignal | undefined;
}

/** Somewhere between half of the doubled delay and all of it, so that many do not come back at once. */
export function delayBefore(attempt: number, backoff: Backoff, random: Random): number {
  const full = Math.min(backoff.longestDelayMs, backoff.firstDelayMs * 2 ** (attempt - 1));
  return full / 2 + (full / 2) * random.fraction();
}

/** Runs `work` until it succeeds, `again` says no, or the tries are used up; then the last error is thrown. */
export async function retry<T>(
  work: (attempt: number) => Promise<T>,
  again: (error: unknown) => boolean,
  backoff: Backoff,
  tools: RetryTools,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= backoff.tries || tools.signal?.aborted || !again(error)) throw error;
      await tools.clock.sleep(delayBefore(attempt, backoff, tools.random), tools.signal);
    }
  }
}
