import type { Clock } from "@slipway/kernel/clock";
import { HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { SourceFailed } from "../errors.ts";
import { LARGEST_DOCUMENT } from "./source.ts";

export interface Exchange {
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface MetadataAnswer {
  readonly status: number;
  readonly body: string;
}

/** One request with one deadline for all of it, so that an answer that drips does not hold the start up. */
export async function exchange(
  source: string,
  what: Exchange,
  clock: Clock,
  signal: AbortSignal,
): Promise<MetadataAnswer> {
  const { method, headers, timeoutMs: withinMs } = what;
  const url = new URL(what.url);
  const path = `${url.pathname}${url.search}`;
  try {
    const reply = await requestOnce(
      { origin: url, clock },
      { method, path, headers, signal, withinMs, largest: LARGEST_DOCUMENT },
    );
    return { status: reply.status, body: await reply.text() };
  } catch (cause) {
    if (!(cause instanceof HttpTrouble)) throw cause;
    const why = cause.kind === "too-large" ? "the answer is too large to be settings" : cause.why;
    throw SourceFailed({ source, why }, { cause });
  }
}
