import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { type HttpClientOptions, requestOnce } from "@slipway/kernel/http/client";
import { tracesDocument } from "./otlp.ts";
import type { Span } from "./span.ts";

export interface Collector {
  /** URL that spans are posted to. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls?: HttpClientOptions["tls"];
  /** Attributes of the program that makes the spans. */
  readonly resource: Span["attributes"];
}

export interface ExporterTools {
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

type ExporterOptions = Collector & ExporterTools;

export interface SpanExporter {
  add(span: Span): void;
  /** Sends what there is, if that is quick, and gives what was not taken. */
  close(): Promise<readonly Span[]>;
}

const EVERY_MS = 5_000;
const BATCH = 512;
/** A deploy of a hundred instances makes some thousands. */
const MOST_WAITING = 8_192;
const POST_MS = 10_000;
const LAST_POST_MS = 2_000;
/** Statuses of a server in between that is away or overloaded: a retry may succeed. */
const AGAIN = [408, 429, 502, 503, 504];

/**
 * Posts spans in batches without blocking. A collector that is away or refuses is logged once, and again when spans are taken.
 * Spans that do not fit the queue meanwhile are dropped and counted.
 */
export function otlpExporter(options: ExporterOptions): SpanExporter {
  const { clock, log } = options;
  const waiting: Span[] = [];
  let dropped = 0;
  let troubled = false;
  let closed = false;
  let sending: Promise<void> | undefined;
  let cancel = () => {};

  const trouble = (why: string) => {
    if (!troubled) log(`traces are not taken by ${options.url.origin}: ${why}`);
    troubled = true;
  };

  const sendAll = async (withinMs: number): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      const outcome = await post(options, batch, withinMs);
      if (outcome === "later" || typeof outcome === "object") {
        trouble(outcome === "later" ? "it is busy" : outcome.why);
        return;
      }
      waiting.splice(0, batch.length);
      if (outcome === "taken") {
        if (troubled) log(`traces are taken again by ${options.url.origin}; ${dropped} spans were dropped`);
        troubled = false;
        dropped = 0;
      } else {
        dropped += batch.length;
        trouble(`it answered ${outcome}`);
      }
    }
  };
  const send = (withinMs: number): Promise<void> => {
    sending ??= sendAll(withinMs).finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const plan = () => {
    cancel = clock.after(EVERY_MS, () => {
      plan();
      void send(POST_MS);
    });
  };
  plan();

  return {
    add: (span) => {
      if (closed) return;
      if (waiting.length >= MOST_WAITING) {
        dropped += 1;
        return;
      }
      waiting.push(span);
      if (waiting.length >= BATCH && !troubled) void send(POST_MS);
    },
    close: async () => {
      closed = true;
      cancel();
      await sending;
      await send(LAST_POST_MS);
      return waiting;
    },
  };
}

/** A number: it is refused for good, with this status. */
async function post(
  { url, headers, tls, resource, clock }: ExporterOptions,
  batch: readonly Span[],
  withinMs: number,
): Promise<"taken" | "later" | number | { readonly why: string }> {
  try {
    const reply = await requestOnce(
      { origin: url, clock, tls },
      {
        method: "POST",
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(tracesDocument(resource, "slipway", batch)),
        withinMs,
      },
    );
    reply.discard();
    if (reply.status >= 200 && reply.status < 300) return "taken";
    return AGAIN.includes(reply.status) ? "later" : reply.status;
  } catch (error) {
    return { why: messageTrail(error) };
  }
}
