import type { NatsConnection } from "@nats-io/transport-node";
import { sharedAbort } from "../shared-abort.ts";

/** A connection and the signal that it is gone. */
export interface Link {
  readonly connection: NatsConnection;
  readonly gone: AbortSignal;
}

export function linkOf(connection: NatsConnection): Link {
  // Every message under way listens.
  const controller = sharedAbort();
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
