import type { Clock } from "@slipway/kernel/clock";

/** Delay of a beat that still counts in full: a busy machine is not a process that was stopped. */
const LATEST_MS = 5_000;

export interface Mark {
  readonly monotonic: number;
  readonly awake: number;
}

/**
 * Counts the milliseconds during which this process ran. While it is stopped (SIGSTOP, a debugger, a host that hangs) it asks no
 * agent, and no agent's silence counts. Changes of the clock do not count either.
 */
export class AwakeTime {
  readonly #clock: Pick<Clock, "monotonic">;
  #last: number;
  #awake = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#last = clock.monotonic();
  }

  /** Counts the time since the last beat; to be called every second or so. */
  beat(): void {
    const { monotonic, awake } = this.mark();
    this.#awake = awake;
    this.#last = monotonic;
  }

  now(): number {
    return this.mark().awake;
  }

  mark(): Mark {
    const monotonic = this.#clock.monotonic();
    const passed = Math.max(0, monotonic - this.#last);
    return { monotonic, awake: this.#awake + Math.min(passed, LATEST_MS) };
  }

  /** Reports whether the process was stopped since then, so that agents had no chance to meet a deadline that has passed. */
  stoppedSince(then: Mark): boolean {
    const now = this.mark();
    return now.monotonic - then.monotonic - (now.awake - then.awake) > LATEST_MS / 5;
  }
}
