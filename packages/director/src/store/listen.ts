import type { Clock } from "@slipway/kernel/clock";
import type pg from "pg";

/** Kind of change: see the triggers of migration 4. */
export type Notice = "tasks" | "locks";

export interface ListenOptions {
  readonly connect: () => pg.Client;
  readonly clock: Clock;
  readonly onNotice: (notice: Notice) => void;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 1000;

/**
 * Hears what other connections to the database have changed. An outage costs only time: the subscribers also look now and then.
 */
export class Listener {
  readonly #options: ListenOptions;
  #client: pg.Client | undefined;
  #closed = false;
  #cancelRetry = () => {};

  constructor(options: ListenOptions) {
    this.#options = options;
    void this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRetry();
    await this.#client?.end().catch(() => undefined);
  }

  async #open(): Promise<void> {
    const { connect, clock, onNotice, onError } = this.#options;
    if (this.#closed) return;
    const client = connect();
    let over = false;
    const again = (error?: unknown) => {
      if (over) return;
      over = true;
      this.#client = undefined;
      void client.end().catch(() => undefined);
      if (this.#closed) return;
      if (error !== undefined) onError(error);
      this.#cancelRetry = clock.after(RETRY_MS, () => void this.#open());
    };
    client.on("error", again);
    client.on("end", () => again());
    client.on("notification", ({ payload }) => {
      if (payload === "tasks" || payload === "locks") onNotice(payload);
    });
    this.#client = client;
    try {
      await client.connect();
      await client.query("listen slipway");
      // What happened before it heard.
      onNotice("tasks");
      onNotice("locks");
    } catch (error) {
      again(error);
    }
    if (this.#closed) await client.end().catch(() => undefined);
  }
}
