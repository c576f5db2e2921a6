import { messageTrail } from "@slipway/kernel/errors";
import type { Alert, AlertSink } from "./alert.ts";

/** Alerts that wait for a slow or absent sink. Older ones are dropped, and their number is noted. */
const MOST_WAITING = 1_000;

/** Hands alerts to sinks, to each in its own time and in order. */
export class AlertQueue {
  readonly #sinks: readonly AlertSink[];
  readonly #onError: (error: unknown) => void;
  readonly #stopped = new AbortController();
  readonly #waiting = new Map<AlertSink, Alert[]>();
  readonly #dropped = new Map<AlertSink, number>();
  readonly #sending = new Map<AlertSink, Promise<void>>();

  constructor(sinks: readonly AlertSink[], onError: (error: unknown) => void) {
    this.#sinks = sinks;
    this.#onError = onError;
  }

  add(alert: Alert): void {
    if (this.#stopped.signal.aborted) return;
    for (const sink of this.#sinks) {
      const waiting = this.#waiting.get(sink) ?? [];
      waiting.push(alert);
      if (waiting.length > MOST_WAITING) {
        waiting.shift();
        this.#dropped.set(sink, (this.#dropped.get(sink) ?? 0) + 1);
      }
      this.#waiting.set(sink, waiting);
      if (!this.#sending.has(sink)) this.#sending.set(sink, this.#send(sink));
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#sending.values());
  }

  /** Never rejects. */
  async #send(sink: AlertSink): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      const alert = this.#waiting.get(sink)?.shift();
      if (alert === undefined || signal.aborted) break;
      try {
        await sink.send(alert, signal);
      } catch (error) {
        if (!signal.aborted)
          this.#onError(new Error(`an alert could not be sent by ${sink.name}: ${messageTrail(error)}`));
      }
    }
    const dropped = this.#dropped.get(sink) ?? 0;
    this.#dropped.delete(sink);
    if (dropped > 0)
      this.#onError(new Error(`${dropped} alerts were not sent by ${sink.name}: it was too slow`));
    this.#sending.delete(sink);
  }
}
