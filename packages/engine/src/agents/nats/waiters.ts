import type { Clock } from "@slipway/kernel/clock";

/** Result of a request. */
export type BusReply =
  | { readonly kind: "answer"; readonly text: string }
  /** Nothing was sent. */
  | { readonly kind: "unconnected"; readonly why: string }
  /** The server says that no agent is subscribed. */
  | { readonly kind: "nobody" }
  /** The server does not let the Director send there. */
  | { readonly kind: "forbidden" }
  | { readonly kind: "too-large"; readonly bytes: number; readonly limit: number }
  /** The connection was lost before an answer. */
  | { readonly kind: "lost" }
  | { readonly kind: "late" };

export interface Waiting {
  readonly requestId: string;
  readonly agentId: string;
  readonly withinMs: number;
  readonly harmless: boolean;
  readonly signal: AbortSignal | undefined;
}

interface Waiter {
  readonly agentId: string;
  readonly harmless: boolean;
  readonly end: (outcome: BusReply) => void;
}

/** Requests that wait for a reply. A reply that is late, or a second one, is dropped. */
export class Waiters {
  readonly #waiters = new Map<string, Waiter>();

  wait({ requestId, agentId, withinMs, harmless, signal }: Waiting, clock: Clock): Promise<BusReply> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel();
        signal?.removeEventListener("abort", aborted);
        this.#waiters.delete(requestId);
      };
      const end = (outcome: BusReply) => {
        leave();
        resolve(outcome);
      };
      const aborted = () => {
        leave();
        reject(signal?.reason);
      };
      const cancel = clock.after(withinMs, () => end({ kind: "late" }));
      this.#waiters.set(requestId, { agentId, harmless, end });
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted) aborted();
    });
  }

  /** Only the agent that was asked can answer: the server allows each its own subjects, and so do we. */
  reply(subject: string, said: Uint8Array | { readonly kind: "nobody" }): void {
    const [, , agentId, requestId = "", ...more] = subject.split(".");
    const waiter = this.#waiters.get(requestId);
    if (waiter === undefined || waiter.agentId !== agentId || more.length > 0) return;
    waiter.end(said instanceof Uint8Array ? { kind: "answer", text: Buffer.from(said).toString() } : said);
  }

  end(requestId: string, outcome: BusReply): void {
    this.#waiters.get(requestId)?.end(outcome);
  }

  /** A reply that must not be asked for again may still come over the next connection: agents send it until it is taken. */
  connectionLost(): void {
    for (const waiter of [...this.#waiters.values()]) if (waiter.harmless) waiter.end({ kind: "lost" });
  }

  forbidden(agentId: string): void {
    for (const waiter of [...this.#waiters.values()])
      if (waiter.agentId === agentId) waiter.end({ kind: "forbidden" });
  }

  endAll(outcome: BusReply): void {
    for (const waiter of [...this.#waiters.values()]) waiter.end(outcome);
  }
}
