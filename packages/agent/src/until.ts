import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded } from "@slipway/kernel/deadline";

/** For work to say what it was at when its time was up; looking through all processes for one takes a moment. */
const LAST_WORDS_MS = 5_000;

/**
 * Runs `work` with a signal that is aborted when the time is up, and waits for what the work then says. Unlike
 * `withDeadline` it keeps the work's own error, which tells what was tried or who was in the way.
 */
export async function until<T>(
  what: string,
  ms: number,
  clock: Clock,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  let cancelLastWords = () => {};
  const speechless = new Promise<never>((_, reject) => {
    const listen = () => {
      cancelLastWords = clock.after(LAST_WORDS_MS, () => reject(signal.reason as Error));
    };
    signal.addEventListener("abort", listen, { once: true });
  });
  const cancel = clock.after(ms, () => controller.abort(DeadlineExceeded({ what, ms })));
  const onOuter = () => controller.abort(outer.reason);
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) onOuter();
  try {
    return await Promise.race([work(signal), speechless]);
  } finally {
    cancel();
    cancelLastWords();
    outer.removeEventListener("abort", onOuter);
  }
}
