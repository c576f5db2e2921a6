import type { Agent, ClientRequest, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemCode, toError } from "../errors.ts";
import { startTls } from "./start-tls.ts";
import {
  type HttpBody,
  type HttpWire,
  hostOf,
  type MakeWire,
  type OutgoingRequest,
  portOf,
  type Trace,
  tlsOptions,
  usable,
  type WireReply,
  type WireTarget,
} from "./wire.ts";

/**
 * Requests by Node's own client. It is there already when a process starts: undici costs a process that makes one
 * request 40 to 120 ms, and a CPI or a command is such a process.
 */
export const nodeWire: MakeWire = (target) => new NodeWire(target);

/** Makes a connection to a host in a way of its own. */
export type Dial = (
  to: { readonly host: string; readonly port: number },
  signal: AbortSignal,
) => Promise<Socket>;

/** The same over connections that somebody else makes, such as a proxy. */
export const dialledWire =
  (dial: Dial): MakeWire =>
  (target) =>
    new NodeWire(target, target.socketPath === undefined ? dial : undefined);

class NodeWire implements HttpWire {
  readonly #target: WireTarget;
  readonly #dial: Dial | undefined;
  #kept: Agent | undefined;

  constructor(target: WireTarget, dial?: Dial) {
    this.#target = target;
    this.#dial = dial;
  }

  async send(sent: OutgoingRequest, signal: AbortSignal, trace: Trace): Promise<WireReply> {
    const { url, socketPath, tls } = this.#target;
    const secure = url.protocol === "https:";
    // Loaded only where it is used: most engines are behind a socket, and every call of a CPI is a process.
    const { request, Agent } = secure ? await import("node:https") : await import("node:http");
    const options: RequestOptions = {
      ...(secure ? tlsOptions(url, await tls()) : { host: hostOf(url), port: portOf(url) }),
      ...(socketPath !== undefined && { socketPath }),
      method: sent.method,
      path: sent.path,
      headers: sent.headers,
      ...this.#connection(sent, Agent, signal),
      signal,
    };
    signal.throwIfAborted();
    const outgoing = usable(() => request(options));
    return await new Promise((resolve, reject) => {
      let answered = false;
      outgoing.on("socket", (socket) => {
        socket.off("data", unasked);
        trace.reused = outgoing.reusedSocket;
        if (outgoing.reusedSocket) {
          trace.phase = "sent";
          return;
        }
        const connected = () => {
          trace.phase = secure ? "handshake" : "sent";
        };
        if (this.#dial === undefined) socket.once("connect", connected);
        else connected();
        socket.once("secureConnect", () => {
          trace.phase = "sent";
        });
      });
      outgoing.on("response", (response) => {
        answered = true;
        trace.phase = "answering";
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
      });
      outgoing.on("error", (error) => {
        // Who refuses a large body answers before it has read it, and may hang up then.
        if (answered) return;
        const shut =
          this.#dial !== undefined && trace.phase === "handshake" && systemCode(error) === "ECONNRESET";
        reject(shut ? new Error(SHUT, { cause: error }) : error);
      });
      pour(sent.body, outgoing).catch((error: unknown) => {
        outgoing.destroy();
        reject(error as Error);
      });
    });
  }

  close(): void {
    this.#kept?.destroy();
  }

  #connection(sent: OutgoingRequest, MadeBy: typeof Agent, signal: AbortSignal): Connection {
    const kept = sent.fresh || this.#target.keepMs === undefined ? undefined : this.#agent(MadeBy);
    const dial = this.#dial;
    if (dial === undefined) return { agent: kept ?? false };
    const createConnection: Connection["createConnection"] = (_, made) => {
      this.#dialled(dial, signal).then(
        (socket) => made(null, socket),
        // Its type knows no failure, which has no connection.
        (error: unknown) => (made as (error: Error) => void)(toError(error)),
      );
      return undefined;
    };
    // An agent, also none at all, would make a connection of its own.
    return kept === undefined ? { createConnection } : { agent: kept, createConnection };
  }

  #agent(MadeBy: typeof Agent): Agent {
    if (this.#kept === undefined) {
      // Without remembered sessions: a resumed one is not asked for its identity.
      const keepMs = this.#target.keepMs;
      const options = { keepAlive: true, maxFreeSockets: 1, timeout: keepMs, maxCachedSessions: 0 };
      this.#kept = new MadeBy(options);
      this.#kept.on("free", (socket: Duplex) => socket.on("data", unasked));
      if (this.#dial !== undefined)
        this.#kept.createConnection = (asked, made) => made && asked.createConnection?.(asked, made);
    }
    return this.#kept;
  }

  async #dialled(dial: Dial, signal: AbortSignal): Promise<Duplex> {
    const { url, tls } = this.#target;
    const socket = await dial({ host: hostOf(url), port: portOf(url) }, signal);
    if (url.protocol !== "https:") return socket;
    try {
      return await startTls(socket, url, await tls());
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

type Connection = Pick<RequestOptions, "agent" | "createConnection">;

const SHUT = "who makes the connection closed it before TLS began, as if nobody were there";

/** Ends a connection on which unrequested data arrives: it would be taken for the answer to the next request. */
function unasked(this: Duplex): void {
  this.destroy();
}

/** Sends a body as fast as the server reads. The server may answer, and close, before it has read everything. */
export async function pour(body: HttpBody | undefined, to: ClientRequest): Promise<void> {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return void to.end(body);
  for await (const piece of body) {
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
