import type { Clock } from "@slipway/kernel/clock";

/** Wakes waiters before their time is up. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Waits until the bell rings, or the time is up; rejects when the signal is aborted. */
  async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const rung = new AbortController();
    const wake = () => rung.abort();
    this.#waiting.add(wake);
    try {
      await clock.sleep(ms, AbortSignal.any([signal, rung.signal]));
    } catch (error) {
      if (!rung.signal.aborted || signal.aborted) throw error;
    } finally {
      this.#waiting.delete(wake);
    }
  }
}
