interface Waiting<T> {
  readonly item: T;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Most writes in one transaction: with more, each would wait for too many others. */
const MOST = 64;

/**
 * Writes what comes while a write is under way together with the next: instances that are changed at the same time share their
 * commits. A single write does not wait. When several are refused together, each is tried by itself, so that one that does not
 * fit fails alone.
 */
export class GroupCommit<T> {
  readonly #write: (items: readonly T[]) => Promise<void>;
  readonly #wasRefused: (error: unknown) => boolean;
  #waiting: Waiting<T>[] = [];
  #busy = false;

  /** `wasRefused` reports that nothing was written. After a lost connection that is unknown, and nothing is sent twice. */
  constructor(write: (items: readonly T[]) => Promise<void>, wasRefused: (error: unknown) => boolean) {
    this.#write = write;
    this.#wasRefused = wasRefused;
  }

  add(item: T): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ item, done, failed });
      if (!this.#busy) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MOST);
      this.#waiting = this.#waiting.slice(MOST);
      await this.#writeBatch(batch);
    }
    this.#busy = false;
  }

  async #writeBatch(batch: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.#write(batch.map(({ item }) => item));
      for (const { done } of batch) done();
    } catch (error) {
      if (batch.length > 1 && this.#wasRefused(error)) for (const one of batch) await this.#writeBatch([one]);
      else for (const { failed } of batch) failed(error);
    }
  }
}
