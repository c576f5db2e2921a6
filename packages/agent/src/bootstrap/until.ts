import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded } from "@slipway/kernel/deadline";

/**
 * Runs `work` with a signal that is aborted when the time is up, and waits for what the work then says. Unlike
 * `withDeadline` it keeps the work's own error, which tells what was tried.
 */
export async function until<T>(
  what: string,
  ms: number,
  clock: Clock,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = clock.after(ms, () => controller.abort(DeadlineExceeded({ what, ms })));
  const onOuter = () => controller.abort(outer.reason);
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) onOuter();
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    outer.removeEventListener("abort", onOuter);
  }
}
