import type { IncomingMessage, RequestOptions } from "node:http";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { SourceFailed } from "../errors.ts";
import { LARGEST_DOCUMENT } from "./source.ts";

export interface Exchange {
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface Heard {
  readonly status: number;
  readonly body: string;
}

/** One request with one deadline for all of it, so that an answer that drips does not hold the start up. */
export async function exchange(
  source: string,
  what: Exchange,
  clock: Clock,
  signal: AbortSignal,
): Promise<Heard> {
  try {
    return await withDeadline("the answer", what.timeoutMs, clock, signal, (inner) => send(what, inner));
  } catch (cause) {
    signal.throwIfAborted();
    throw SourceFailed({ source, why: messageTrail(cause) }, { cause });
  }
}

async function send(what: Exchange, signal: AbortSignal): Promise<Heard> {
  const url = new URL(what.url);
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const options: RequestOptions = { method: what.method, headers: what.headers, agent: false, signal };
  return await new Promise((resolve, reject) => {
    const outgoing = request(url, options, (incoming) => {
      bodyOf(incoming).then((body) => resolve({ status: incoming.statusCode ?? 0, body }), reject);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_DOCUMENT) throw new Error("the answer is too large to be settings");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
