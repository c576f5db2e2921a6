import { setMaxListeners } from "node:events";
import type { NatsConnection } from "@nats-io/transport-node";

/** A connection and the signal that it is gone. */
export interface Link {
  readonly connection: NatsConnection;
  readonly gone: AbortSignal;
}

export function linkOf(connection: NatsConnection): Link {
  const controller = new AbortController();
  // Every message under way listens.
  setMaxListeners(0, controller.signal);
  const end = () => controller.abort(new Error("the connection was closed"));
  connection.closed().then(end, end);
  return { connection, gone: controller.signal };
}

/** Resolves when one of them is aborted, and leaves no listener behind: the other may live for years. */
export function firstOf(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const heard = () => {
      for (const signal of signals) signal.removeEventListener("abort", heard);
      resolve();
    };
    for (const signal of signals) signal.addEventListener("abort", heard);
    if (signals.some((signal) => signal.aborted)) heard();
  });
}
