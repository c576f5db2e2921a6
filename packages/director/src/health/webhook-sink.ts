import type { Clock } from "@slipway/kernel/clock";
import { requestOnce } from "@slipway/kernel/http/client";
import type { AlertSink } from "./alert.ts";

export interface WebhookOptions {
  readonly url: string;
  /** PEM; undefined: the system's. */
  readonly ca?: string | undefined;
  /** Sent as `Authorization`. */
  readonly authorization?: string | undefined;
  readonly clock: Clock;
}

const WITHIN_MS = 10_000;
const LARGEST = 64 << 10;

/** Posts each alert as JSON. An address may hold a secret: no message names more of it than its host. */
export function webhookSink({ url, ca, authorization, clock }: WebhookOptions): AlertSink {
  const { origin, host, pathname, search } = new URL(url);
  const name = `the webhook at ${host}`;
  return {
    name,
    send: async (alert, signal) => {
      const reply = await requestOnce(
        { origin, clock, tls: { ca } },
        {
          method: "POST",
          path: `${pathname}${search}`,
          doing: `POST to ${name}`,
          headers: {
            "content-type": "application/json",
            ...(authorization !== undefined && { authorization }),
          },
          body: JSON.stringify(alert),
          withinMs: WITHIN_MS,
          largest: LARGEST,
          signal,
        },
      );
      await reply.text();
      if (reply.status >= 300) throw new Error(`it answered with status ${reply.status}`);
    },
  };
}
