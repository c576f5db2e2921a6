import type { Clock } from "@slipway/kernel/clock";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until the scheduler moves it to its next timer. */
export class VirtualClock implements Clock {
  readonly #origin: number;
  readonly #timers = new Set<Timer>();
  #elapsed = 0;
  #count = 0;

  /** `origin`: milliseconds since 1970 at which the clock starts. */
  constructor(origin: number) {
    this.#origin = origin;
  }

  now(): number {
    return this.#origin + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): () => void {
    this.#count += 1;
    const timer = { at: this.#elapsed + Math.max(0, ms), order: this.#count, fire: callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = () => {
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Moves to the earliest timer and fires it. False: there is none. */
  advance(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#elapsed = Math.max(this.#elapsed, next.at);
    next.fire();
    return true;
  }
}
