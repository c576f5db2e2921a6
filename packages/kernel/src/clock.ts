/** Time is passed in, so that tests and the simulator own it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

/** Node fires a timer at once when its delay does not fit 31 bits. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        Math.min(ms, LONGEST_TIMER),
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

export const isoTime = (clock: Clock): string => new Date(clock.now()).toISOString();
