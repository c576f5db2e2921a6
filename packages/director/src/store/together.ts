interface Waiting<T> {
  readonly item: T;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** More in one transaction would make each of them wait for too many others. */
const MOST = 64;

/**
 * Writes what comes while a write is under way together with the next: instances that are changed at the same time share
 * their commits. One alone waits for nobody. When several fail together, each is tried by itself.
 */
export class Together<T> {
  readonly #write: (items: readonly T[]) => Promise<void>;
  #waiting: Waiting<T>[] = [];
  #busy = false;

  constructor(write: (items: readonly T[]) => Promise<void>) {
    this.#write = write;
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
      if (batch.length === 1) batch[0]?.failed(error);
      else for (const one of batch) await this.#writeBatch([one]);
    }
  }
}
