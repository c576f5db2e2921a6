import { connect as connectPlain, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import type { buildConnector, Client } from "undici";
import {
  type HttpBody,
  type HttpTls,
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

/** Requests by undici: a quarter less processor time for each over a connection that is kept. For what lives long. */
export const undiciWire: MakeWire = (target) => new UndiciWire(target);

/** One connection, made again when it was closed. Each carries one request at a time. */
interface Line {
  readonly client: Client;
  socket: Socket | undefined;
  /** Trace of the request under way. */
  trace: Trace;
}

const MOST_FREE = 1;
/** So often a session is taken up before the peer has to prove again who it is. */
const MOST_RESUMED = 100;

/** TLS session that a later connection resumes, for a fraction of the handshake's cost. */
interface Session {
  readonly data: Buffer;
  readonly context: SecureContext;
  /** Connections since a whole handshake. Shared by what the peer has given since. */
  readonly since: { connections: number };
}

class UndiciWire implements HttpWire {
  readonly #target: WireTarget;
  readonly #lines = new Set<Line>();
  readonly #free: Line[] = [];
  #session: Session | undefined;

  constructor(target: WireTarget) {
    this.#target = target;
  }

  async send(sent: OutgoingRequest, signal: AbortSignal, trace: Trace): Promise<WireReply> {
    // Checked before a connection is taken: one that is neither used nor released would be lost to later requests.
    signal.throwIfAborted();
    const kept = sent.fresh ? undefined : this.#free.pop();
    const line = kept ?? (await this.#newLine(trace));
    if (signal.aborted) {
      this.#drop(line, signal.reason as Error);
      throw signal.reason;
    }
    line.trace = trace;
    trace.reused = line.socket !== undefined;
    if (trace.reused) trace.phase = "sent";
    // undici hears an abort only once it is connected.
    const cut = () => this.#drop(line, signal.reason as Error);
    signal.addEventListener("abort", cut, { once: true });
    const over = () => {
      signal.removeEventListener("abort", cut);
      this.#release(line, sent.fresh);
    };
    try {
      const { method, path, headers, body } = sent;
      const {
        statusCode,
        headers: received,
        body: incoming,
      } = await line.client.request({
        method,
        path,
        headers,
        body: bodyOf(body),
      });
      trace.phase = "answering";
      incoming.once("close", over);
      return { status: statusCode, headers: received, body: incoming };
    } catch (error) {
      over();
      throw error;
    }
  }

  close(): void {
    for (const line of this.#lines) this.#drop(line, new Error("the client was closed"));
  }

  async #newLine(trace: Trace): Promise<Line> {
    const { keepMs = 1 } = this.#target;
    // A process that asks nobody does not pay for it.
    const { Client } = await import("undici");
    const client = new Client(this.#target.url.origin, {
      connect: (_, callback) => this.#connect(line, callback),
      keepAliveTimeout: keepMs,
      keepAliveMaxTimeout: keepMs,
      // Time is the caller's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const line: Line = { client, socket: undefined, trace };
    this.#lines.add(line);
    return line;
  }

  #connect(line: Line, callback: buildConnector.Callback): void {
    const { url, socketPath, tls } = this.#target;
    const secure = url.protocol === "https:";
    // The one that was kept turned out to be closed before the request was written.
    Object.assign(line.trace, { phase: "connecting", reused: false });
    const made = secure
      ? tls().then((own) => usable(() => this.#connectTls(own)))
      : Promise.resolve(
          socketPath === undefined
            ? connectPlain({ host: hostOf(url), port: portOf(url) })
            : connectPlain({ path: socketPath }),
        );
    made.then(
      (socket) => {
        line.socket = socket;
        socket.setNoDelay(true);
        socket.once("connect", () => {
          line.trace.phase = secure ? "handshake" : "sent";
        });
        const fail = (error: Error) => {
          this.#session = undefined;
          callback(error, null);
        };
        socket.once("error", fail);
        socket.once(secure ? "secureConnect" : "connect", () => {
          socket.off("error", fail);
          line.trace.phase = "sent";
          callback(null, socket);
        });
        socket.once("close", () => {
          if (line.socket === socket) line.socket = undefined;
          // What waits for the next request is not worth keeping without its connection.
          if (this.#free.includes(line)) this.#drop(line, new Error("the connection was closed"));
        });
        if (line.client.destroyed) socket.destroy(new Error("it is no longer wanted"));
      },
      (error: Error) => callback(error, null),
    );
  }

  /** With the same context as before it goes on from where the last one was: that the peer is who it is was proven then. */
  #connectTls(own: HttpTls): TLSSocket {
    const { secureContext: context } = own;
    const options = tlsOptions(this.#target.url, own);
    if (context === undefined) return connectTls(options);
    const before = this.#session?.context === context ? this.#session : undefined;
    const session =
      before !== undefined && before.since.connections++ < MOST_RESUMED ? before.data : undefined;
    const socket = connectTls(session === undefined ? options : { ...options, session });
    socket.on("session", (data: Buffer) => {
      const since = (socket.isSessionReused() ? before?.since : undefined) ?? { connections: 0 };
      this.#session = { data, context, since };
    });
    return socket;
  }

  #release(line: Line, fresh: boolean): void {
    if (line.client.destroyed) return;
    if (fresh || this.#target.keepMs === undefined || this.#free.length >= MOST_FREE)
      this.#drop(line, new Error("it is no longer needed"));
    else this.#free.push(line);
  }

  #drop(line: Line, why: Error): void {
    this.#lines.delete(line);
    const at = this.#free.indexOf(line);
    if (at !== -1) this.#free.splice(at, 1);
    line.client.destroy(why).catch(() => undefined);
    line.socket?.destroy();
  }
}

const bodyOf = (body: HttpBody | undefined) =>
  body === undefined || typeof body === "string" || body instanceof Uint8Array
    ? (body ?? null)
    : Readable.from(body);
