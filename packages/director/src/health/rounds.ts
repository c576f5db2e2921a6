import type { Clock } from "@slipway/kernel/clock";

export interface RoundsOptions {
  readonly clock: Pick<Clock, "after">;
  readonly tickMs: number;
  readonly roundMs: number;
  readonly tick: () => void;
  readonly look: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The first is soon, and so is one that is asked for. */
const SOON_MS = 1_000;

/** Schedules the work: a tick every second, and a round of looking at all instances that begins when the last is over. */
export class Rounds {
  readonly #options: RoundsOptions;
  #cancelTick = () => {};
  #cancelRound = () => {};
  #looking: Promise<void> | undefined;
  #soon = false;
  #stopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#tick();
    this.#lookSoon();
  }

  /** Starts the next round early, because there is news. */
  hurry(): void {
    if (this.#stopped || this.#soon) return;
    if (this.#looking === undefined) this.#lookSoon();
    else this.#soon = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTick();
    this.#cancelRound();
    await this.#looking;
  }

  #tick(): void {
    const { clock, tickMs, tick } = this.#options;
    this.#cancelTick = clock.after(tickMs, () => {
      tick();
      if (!this.#stopped) this.#tick();
    });
  }

  #lookSoon(): void {
    this.#cancelRound();
    this.#soon = true;
    this.#lookIn(Math.min(SOON_MS, this.#options.roundMs));
  }

  #lookIn(ms: number): void {
    const { clock, look, onError } = this.#options;
    this.#cancelRound = clock.after(ms, () => {
      this.#soon = false;
      this.#looking = look()
        .catch((error: unknown) => {
          if (!this.#stopped) onError(error);
        })
        .finally(() => {
          this.#looking = undefined;
          if (this.#stopped) return;
          if (this.#soon) this.#lookSoon();
          else this.#lookIn(this.#options.roundMs);
        });
    });
  }
}
