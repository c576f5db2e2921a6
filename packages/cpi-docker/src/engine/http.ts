import { text } from "node:stream/consumers";
import { systemClock } from "@slipway/kernel/clock";
import { type HttpReply, HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { NoEngine } from "../errors.ts";
import type { EngineAddress } from "./address.ts";
import { unreachableReason } from "./unreachable-reason.ts";

export interface EngineRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Sent as JSON, or as it is when it is bytes or a stream of them. */
  readonly body?: object | Uint8Array | AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One request on a connection of its own: a process makes few, and a kept one may be closed under it. What a program in
 * a container says comes as a plain answer; no connection is upgraded, because nothing is typed into it.
 */
export async function send(address: EngineAddress, ask: EngineRequest): Promise<HttpReply> {
  const { method, path, body, signal } = ask;
  const raw = body instanceof Uint8Array || (body !== undefined && Symbol.asyncIterator in body);
  const type = raw ? "application/x-tar" : "application/json";
  try {
    return await requestOnce(
      { ...address.at, clock: systemClock },
      {
        method,
        path,
        doing: `${method} ${path.split("?", 1)[0]}`,
        ...(body !== undefined && {
          headers: { "content-type": type },
          body: raw ? (body as Uint8Array | AsyncIterable<Uint8Array>) : JSON.stringify(body),
        }),
        signal,
      },
    );
  } catch (error) {
    if (!(error instanceof HttpTrouble)) throw error;
    const { cause } = error;
    if (error.kind === "unusable")
      throw NoEngine({ host: address.shown, why: "docker.tls is not usable" }, { cause });
    throw NoEngine({ host: address.shown, why: unreachableReason(error, address.secure) }, { cause });
  }
}

/** An answer as it comes in. One that is cut off is an engine that is gone, unless it was cut off by us. */
export async function* bytesOf(reply: HttpReply): AsyncGenerator<Uint8Array> {
  try {
    yield* reply.body;
  } catch (error) {
    if (!(error instanceof HttpTrouble)) throw error;
    throw NoEngine({ host: "its address", why: "it hung up in the middle of an answer" }, { cause: error });
  }
}

export const textOf = (reply: HttpReply): Promise<string> => text(bytesOf(reply));
