import type { Agent, ClientRequest, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import {
  type HttpBody,
  hostOf,
  type MakeWire,
  portOf,
  type Sent,
  type Trace,
  tlsOptions,
  usable,
  type Wire,
  type WireReply,
  type WireTarget,
} from "./wire.ts";

/**
 * Requests by Node's own client. It is there already when a process starts: undici costs a process that makes one
 * request 40 to 120 ms, and a CPI or a command is such a process.
 */
export const nodeWire: MakeWire = (target) => new NodeWire(target);

class NodeWire implements Wire {
  readonly #target: WireTarget;
  #kept: Agent | undefined;

  constructor(target: WireTarget) {
    this.#target = target;
  }

  async send(sent: Sent, signal: AbortSignal, trace: Trace): Promise<WireReply> {
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
      agent: this.#connections(sent, Agent),
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
        socket.once("connect", () => {
          trace.phase = secure ? "handshake" : "sent";
        });
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
        if (!answered) reject(error);
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

  #connections({ fresh }: Sent, MadeBy: typeof Agent): Agent | false {
    const { keepMs } = this.#target;
    if (fresh || keepMs === undefined) return false;
    if (this.#kept === undefined) {
      // Without remembered sessions: a resumed one is not asked for its identity.
      const options = { keepAlive: true, maxFreeSockets: 1, timeout: keepMs, maxCachedSessions: 0 };
      this.#kept = new MadeBy(options);
      this.#kept.on("free", (socket: Duplex) => socket.on("data", unasked));
    }
    return this.#kept;
  }
}

/** What comes while nobody asked would be taken for the answer to the next request. */
function unasked(this: Duplex): void {
  this.destroy();
}

/** As fast as the other side reads. It may answer, and close, before it has read everything. */
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
