import type { Clock } from "@slipway/kernel/clock";

/** What the start of the agent is at, for whoever asks meanwhile. */
export class Waiting {
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

  /** What within the step is waited for. It may change while the step goes on. */
  on(cause: string): void {
    this.#cause = cause;
  }

  /** Such as `waiting for the device of disk vol-1 (persistent disk, 12 s)`. */
  text(): string {
    const seconds = Math.round((this.#clock.monotonic() - this.#since) / 1000);
    return `waiting for ${this.#cause ?? this.#step} (${this.#step}, ${seconds} s)`;
  }
}
