import type { Rate } from "../monit-file/model.ts";

/** Counts in how many of the last cycles a test held. */
export class RateCounter {
  readonly #rate: Rate;
  #history: boolean[] = [];
  /** True while the test holds often enough. */
  failed = false;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Says whether the state has changed with this cycle. A test that could not be made changes nothing. */
  add(holds: boolean | undefined): "failed" | "recovered" | "same" {
    if (holds === undefined) return "same";
    this.#history = [...this.#history, holds].slice(-this.#rate.cycles);
    const failed = this.#history.filter(Boolean).length >= this.#rate.count;
    if (failed === this.failed) return "same";
    this.failed = failed;
    return failed ? "failed" : "recovered";
  }

  reset(): void {
    this.#history = [];
    this.failed = false;
  }
}
