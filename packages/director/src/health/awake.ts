import type { Clock } from "@slipway/kernel/clock";

/** How late a beat may be and still count in full: a busy machine is not a process that was stopped. */
const LATEST_MS = 5_000;

export interface Mark {
  readonly monotonic: number;
  readonly awake: number;
}

/**
 * Milliseconds during which this process ran. While it is stopped (SIGSTOP, a debugger, a host that hangs) it asks
 * nobody, and nobody's silence counts; nor does it when somebody sets the clock.
 */
export class AwakeTime {
  readonly #clock: Pick<Clock, "monotonic">;
  #last: number;
  #awake = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#last = clock.monotonic();
  }

  /** To be called every second or so. */
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

  /** Whether the process was stopped since then, so that a deadline may have passed that nobody had a chance to meet. */
  stoppedSince(then: Mark): boolean {
    const now = this.mark();
    return now.monotonic - then.monotonic - (now.awake - then.awake) > LATEST_MS / 5;
  }
}
