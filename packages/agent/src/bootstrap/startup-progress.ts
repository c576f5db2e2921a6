import type { Clock } from "@slipway/kernel/clock";

/** Current step of the agent's start, for callers that ask meanwhile. */
export class StartupProgress {
  readonly #clock: Clock;
  #step = "start";
  #cause: string | undefined;
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  enter(step: string): void {
    this.#step = step;
    this.#cause = undefined;
    this.#since = this.#clock.monotonic();
  }

  /** Sets what the current step waits for. It may change during the step. */
  on(cause: string): void {
    this.#cause = cause;
  }

  /** Returns a text such as `waiting for the device of disk vol-1 (persistent disk, 12 s)`. */
  text(): string {
    const seconds = Math.round((this.#clock.monotonic() - this.#since) / 1000);
    return `waiting for ${this.#cause ?? this.#step} (${this.#step}, ${seconds} s)`;
  }
}
