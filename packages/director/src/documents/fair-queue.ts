import type { Clock } from "@slipway/kernel/clock";
import type { Asker } from "./documents.ts";

/** Limits of one asker's use of the threads that read documents. */
export interface Share {
  /** Questions that wait. */
  readonly waiting: number;
  /** Characters of the questions that wait. */
  readonly characters: number;
  /** Processor time for one question. */
  readonly limitMs: number;
  /** Processor time within a window; further questions wait for the next window. */
  readonly budgetMs: number;
  /** Questions under way at once. */
  readonly threads: number;
}

/** Length of the windows of budgets. */
export const WINDOW_MS = 60_000;

export interface Queued {
  readonly characters: number;
}

interface Line<J> {
  readonly share: Share;
  readonly jobs: J[];
  running: number;
  spentMs: number;
  since: number;
}

/**
 * Queues questions of several askers, each within its share. The next question is one of the asker that has used the least
 * processor time in its window, so that no asker waits for all questions of another.
 */
export class FairQueue<J extends Queued> {
  readonly #clock: Clock;
  readonly #shareOf: (asker: Asker | undefined) => Share;
  readonly #lines = new Map<string, Line<J>>();

  constructor(clock: Clock, shareOf: (asker: Asker | undefined) => Share) {
    this.#clock = clock;
    this.#shareOf = shareOf;
  }

  /** Adds a job; returns false if the queue is full. */
  add(asker: Asker | undefined, job: J): boolean {
    const line = this.#line(asker);
    const { waiting, characters } = line.share;
    const length = line.jobs.reduce((sum, one) => sum + one.characters, job.characters);
    // A single long question is judged by other limits.
    if (line.jobs.length >= waiting || (line.jobs.length > 0 && length > characters)) return false;
    line.jobs.push(job);
    return true;
  }

  /** Takes the question whose turn it is. `done` must be called with the processor time that it took. */
  take(): { readonly job: J; readonly share: Share; readonly done: (spentMs: number) => void } | undefined {
    let best: Line<J> | undefined;
    for (const [name, line] of this.#lines) {
      this.#renew(name, line);
      if (line.jobs.length === 0 || line.running >= line.share.threads) continue;
      if (line.spentMs >= line.share.budgetMs) continue;
      if (best === undefined || line.spentMs < best.spentMs) best = line;
    }
    const job = best?.jobs.shift();
    if (best === undefined || job === undefined) return undefined;
    const line = best;
    line.running += 1;
    const done = (spentMs: number) => {
      line.running -= 1;
      line.spentMs += Math.max(1, spentMs);
    };
    return { job, share: line.share, done };
  }

  /** Milliseconds until the budget of an asker with waiting questions is renewed; undefined if none waits for that. */
  get renewalMs(): number | undefined {
    const now = this.#clock.monotonic();
    const waits = [...this.#lines.values()]
      .filter((line) => line.jobs.length > 0 && line.spentMs >= line.share.budgetMs)
      .map((line) => Math.max(0, line.since + WINDOW_MS - now));
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** Takes out everything that waits. */
  drain(): readonly J[] {
    return [...this.#lines.values()].flatMap((line) => line.jobs.splice(0));
  }

  #line(asker: Asker | undefined): Line<J> {
    const name = asker === undefined ? "" : `${asker.reader ? "reader" : "user"} ${asker.name}`;
    const line = this.#lines.get(name) ?? {
      share: this.#shareOf(asker),
      jobs: [],
      running: 0,
      spentMs: 0,
      since: this.#clock.monotonic(),
    };
    this.#lines.set(name, line);
    return line;
  }

  /** Begins a new window, or forgets an asker that asks nothing any more. */
  #renew(name: string, line: Line<J>): void {
    if (this.#clock.monotonic() - line.since < WINDOW_MS) return;
    if (line.jobs.length === 0 && line.running === 0) this.#lines.delete(name);
    line.spentMs = 0;
    line.since = this.#clock.monotonic();
  }
}
