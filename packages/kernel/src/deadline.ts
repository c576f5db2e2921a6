import type { Clock } from "./clock.ts";
import { defineError } from "./errors.ts";

export const DeadlineExceeded = defineError<{ what: string; ms: number }>({
  code: "KER-003",
  kind: "outside",
  message: (p) => `${p.what} did not finish within ${p.ms / 1000} s`,
  next: "Look at what it was waiting for in the log. Raise the deadline only if the work really takes that long.",
});

/**
 * Runs `work` with a signal that is aborted when the time is up or when `outer` is. The result is not waited for any
 * longer than that, whether or not the work listens.
 */
export async function withDeadline<T>(
  what: string,
  ms: number,
  clock: Clock,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let cancelTimer = () => {};
  let unlisten = () => {};
  const cut = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), {
      once: true,
    });
    cancelTimer = clock.after(ms, () => controller.abort(DeadlineExceeded({ what, ms })));
    const onOuter = () => controller.abort(outer?.reason);
    outer?.addEventListener("abort", onOuter, { once: true });
    unlisten = () => outer?.removeEventListener("abort", onOuter);
    if (outer?.aborted) onOuter();
  });
  try {
    return await Promise.race([work(controller.signal), cut]);
  } finally {
    cancelTimer();
    unlisten();
    cut.catch(() => undefined);
  }
}
