import type { Clock } from "@slipway/kernel/clock";

/** Wakes waiters before their time is up. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Waits until it is notified, or the time is up; rejects when the signal is aborted. */
  async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const notified = new AbortController();
    const wake = () => notified.abort();
    this.#waiting.add(wake);
    try {
      await clock.sleep(ms, AbortSignal.any([signal, notified.signal]));
    } catch (error) {
      if (!notified.signal.aborted || signal.aborted) throw error;
    } finally {
      this.#waiting.delete(wake);
    }
  }
}
