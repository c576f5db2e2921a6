import type { Clock } from "@slipway/kernel/clock";

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

export interface FakeClock extends Clock {
  /** Moves time on, running what falls due in its order, and lets everything that follows from it happen. */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  readonly waiting: number;
  /** The delays asked for with `sleep`, in order. */
  readonly slept: readonly number[];
}

/**
 * Time that stands still until it is moved. With `hurry` a sleep moves it by itself and ends at once, for code that
 * polls something real between its sleeps.
 */
export function fakeClock(options: { readonly start?: number; readonly hurry?: boolean } = {}): FakeClock {
  let now = options.start ?? 1_000_000;
  const timers = new Set<Timer>();
  const slept: number[] = [];

  const after = (ms: number, run: () => void) => {
    const timer: Timer = { due: now + ms, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextDue = (limit: number) =>
    [...timers].filter((timer) => timer.due <= limit).sort((a, b) => a.due - b.due)[0];
  const moveTo = async (limit: number) => {
    for (let timer = nextDue(limit); timer !== undefined; timer = nextDue(limit)) {
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.run();
      await settled();
    }
    now = Math.max(now, limit);
    await settled();
  };

  return {
    now: () => now,
    monotonic: () => now,
    after,
    sleep: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        slept.push(ms);
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = () => {
          cancel();
          reject(signal?.reason as Error);
        };
        const cancel = after(ms, () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        });
        signal?.addEventListener("abort", onAbort, { once: true });
        if (options.hurry) void moveTo(now + ms);
      }),
    advance: (ms) => moveTo(now + ms),
    get waiting() {
      return timers.size;
    },
    get slept() {
      return slept;
    },
  };
}

/** After this, every promise that could go on without time or the outside has gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
