import { TooManyWaiting } from "../transports/errors.ts";

/** Limit of messages of one name that wait for the one before them. More are refused. */
const MOST_WAITING = 256;

/**
 * Runs work of one name one after the other, in the order it came, and work of different names side by side. So a slow
 * `bundle_logs` holds up the next `bundle_logs` only.
 */
export class KeyedQueue {
  readonly #lanes = new Map<string, { last: Promise<unknown>; waiting: number }>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(name) ?? { last: Promise.resolve(), waiting: 0 };
    if (lane.waiting >= MOST_WAITING) throw TooManyWaiting({ what: `${name} messages`, limit: MOST_WAITING });
    this.#lanes.set(name, lane);
    lane.waiting++;
    const mine = lane.last.then(work);
    lane.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      lane.waiting--;
      if (lane.waiting === 0) this.#lanes.delete(name);
    }
  }
}
