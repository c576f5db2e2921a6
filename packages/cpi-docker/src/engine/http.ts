import { type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { NoEngine } from "../errors.ts";
import type { EngineAddress } from "./address.ts";
import { reason } from "./reason.ts";

export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Sent as JSON, or as it is when it is bytes or a stream of them. */
  readonly body?: object | Uint8Array | AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/** One request on a connection of its own: a process makes few, and a kept one may be closed under it. */
export async function send(address: EngineAddress, ask: Ask): Promise<IncomingMessage> {
  const { body } = ask;
  const raw = body instanceof Uint8Array || (body !== undefined && Symbol.asyncIterator in body);
  const json = body === undefined || raw ? undefined : JSON.stringify(body);
  const type = raw ? "application/x-tar" : "application/json";
  const options: RequestOptions = {
    ...address.options,
    method: ask.method,
    path: ask.path,
    agent: false,
    headers: {
      // A socket has no name of its own to be sent.
      ...("socketPath" in address.options && { host: "docker" }),
      ...(body !== undefined && { "content-type": type }),
      ...(json !== undefined && { "content-length": String(Buffer.byteLength(json)) }),
    },
    ...(ask.signal !== undefined && { signal: ask.signal }),
  };
  // Loaded only where it is used: most engines are behind a socket, and every call is a process.
  const make = address.secure ? (await import("node:https")).request : plainRequest;
  const outgoing = attempted(() => make(options), address);
  return await new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      ask.signal?.throwIfAborted();
      throw NoEngine({ host: address.shown, why: reason(error, address.secure) }, { cause: error });
    };
    outgoing.on("response", resolve);
    outgoing.on("error", (error) => {
      try {
        fail(error);
      } catch (mapped) {
        reject(mapped as Error);
      }
    });
    if (json !== undefined || body === undefined) outgoing.end(json);
    else if (body instanceof Uint8Array) outgoing.end(body);
    else
      pour(body as AsyncIterable<Uint8Array>, outgoing).catch((error: unknown) => {
        outgoing.destroy();
        reject(error as Error);
      });
  });
}

/** Keys and certificates are read before anybody is called. */
function attempted<T>(make: () => T, { secure, shown }: EngineAddress): T {
  try {
    return make();
  } catch (cause) {
    if (!secure) throw cause;
    throw NoEngine({ host: shown, why: "docker.tls is not usable" }, { cause });
  }
}

/** As fast as the engine reads. It may answer, and close, before it has read everything. */
async function pour(from: AsyncIterable<Uint8Array>, to: ReturnType<typeof plainRequest>): Promise<void> {
  for await (const piece of from) {
    if (to.destroyed || to.writableEnded) return;
    if (to.write(piece)) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        to.off("drain", go).off("close", go);
        resolve();
      };
      to.on("drain", go).on("close", go);
    });
  }
  to.end();
}

/** An answer as it comes in. One that is cut off is an engine that is gone, unless it was cut off by us. */
export async function* bytesOf(reply: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of reply) yield piece as Uint8Array;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw NoEngine({ host: "its address", why: "it hung up in the middle of an answer" }, { cause: error });
  }
}

export const textOf = (reply: IncomingMessage): Promise<string> => text(bytesOf(reply));
