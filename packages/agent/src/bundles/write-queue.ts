const AT_ONCE = 8;

/** Runs some writes side by side while the next ones are read. The first failure is told to whoever comes next. */
export class WriteQueue {
  readonly #running = new Set<Promise<void>>();
  #failed: { readonly error: unknown } | undefined;

  /** Resolves when there is room for the next one. */
  async add(work: () => Promise<void>): Promise<void> {
    const mine = work().then(
      () => void this.#running.delete(mine),
      (error: unknown) => {
        this.#failed ??= { error };
        this.#running.delete(mine);
      },
    );
    this.#running.add(mine);
    if (this.#running.size >= AT_ONCE) await Promise.race(this.#running);
    this.#check();
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
    this.#check();
  }

  #check(): void {
    if (this.#failed !== undefined) throw this.#failed.error;
  }
}
