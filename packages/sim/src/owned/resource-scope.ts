/**
 * Things that this program must close before it ends, such as database servers: processes of their own, which go on otherwise.
 * A thing counts from the moment it begins to open: closing waits for it.
 */
export class ResourceScope {
  readonly #closes: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  /** True from the moment that closing begins. What fails from then on is no news. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Opens a thing. Never resolves once closing has begun: there is nothing to do with it any more. */
  async open<T>(open: () => Promise<T>, close: (opened: T) => Promise<void>): Promise<T> {
    if (this.#closing !== undefined) return await never();
    const opening = open();
    this.#closes.unshift(async () => {
      const opened = await opening.then(
        (one) => [one] as const,
        () => undefined,
      );
      if (opened !== undefined) await close(opened[0]);
    });
    const opened = await opening;
    return this.#closing === undefined ? opened : await never();
  }

  /** Closes everything, once, what was opened last first. One that cannot be closed does not keep the others open. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const failed: unknown[] = [];
    for (const close of this.#closes) await close().catch((error: unknown) => failed.push(error));
    if (failed.length > 0) throw failed[0];
  }
}

const never = (): Promise<never> => new Promise(() => undefined);

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Works, and closes what the work has opened: at its end, or at a signal, after which the program ends. A signal often comes
 * twice, from the terminal and from the program that started this one: the second must not cut closing short.
 */
export async function closingAll<T>(work: (owned: ResourceScope) => Promise<T>): Promise<T> {
  const owned = new ResourceScope();
  let isEnding = false;
  const end = (signal: keyof typeof CODES) => {
    if (isEnding) return;
    isEnding = true;
    // Work that goes on meanwhile loses what it works with. Its failures must not end the program before all is closed.
    process.on("uncaughtException", () => undefined);
    process.on("unhandledRejection", () => undefined);
    const tell = (error: unknown) => void process.stderr.write(`not closed: ${String(error)}\n`);
    void owned
      .close()
      .catch(tell)
      .finally(() => process.exit(CODES[signal]));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  try {
    return await work(owned);
  } finally {
    if (isEnding) await never();
    await owned.close();
    if (isEnding) await never();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, end);
  }
}
