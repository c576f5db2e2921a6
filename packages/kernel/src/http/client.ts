import type { Clock } from "../clock.ts";
import { messageTrail, systemCode, toError } from "../errors.ts";
import { nodeWire } from "./node-wire.ts";
import {
  type HttpBody,
  type HttpTls,
  type HttpWire,
  type MakeWire,
  type RequestPhase,
  type Trace,
  UnusableOptions,
  type WireReply,
} from "./wire.ts";

export interface HttpClientOptions {
  /** Server of the client. Only protocol, host and port of a URL count. */
  readonly origin: string | URL;
  readonly clock: Clock;
  /** The socket in the file system that is connected to instead. */
  readonly socketPath?: string | undefined;
  /** A function is asked for each new connection. */
  readonly tls?: HttpTls | (() => Promise<HttpTls>) | undefined;
  /** How long a connection waits for its next request. Without it each request has a connection of its own. */
  readonly keepMs?: number | undefined;
  /** Node's own client, unless a process lives long and has much to ask. */
  readonly wire?: MakeWire | undefined;
}

export interface HttpRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** For messages; the default is the method and the address without its query, where credentials travel. */
  readonly doing?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A stream without a content-length is sent in chunks. */
  readonly body?: HttpBody | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For all of it, to the last byte of the answer. */
  readonly withinMs?: number | undefined;
  /** Until there is a connection. */
  readonly connectMs?: number | undefined;
  /** How long nothing may go either way. */
  readonly idleMs?: number | undefined;
  /** Most bytes of an answer. */
  readonly largest?: number | undefined;
  /** Not over a connection that was kept: that it may be closed in this moment must not make a request doubtful. */
  readonly fresh?: boolean | undefined;
}

export interface HttpReply {
  readonly status: number;
  header(name: string): string | undefined;
  readonly headerNames: readonly string[];
  /** Body as it arrives, readable once. The deadlines go on until it is read or discarded. */
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Buffer>;
  text(): Promise<string>;
  /** Drops the body unread. */
  discard(): void;
}

/**
 * No whole answer came. `broken`: the connection failed; `late`: the time for all of it is up; `silent`: nothing came
 * for too long; `too-large`: the answer; `unusable`: what was configured. Callers say in words of their own what follows
 * from it.
 */
export class HttpTrouble extends Error {
  override readonly name = "HttpTrouble";
  readonly kind: "broken" | "late" | "silent" | "too-large" | "unusable" | "astray";
  /** Code of the system, such as ECONNREFUSED. */
  readonly code: string | undefined;
  readonly phase: RequestPhase;
  readonly reused: boolean;
  /** The message without what was being done. */
  readonly why: string;

  constructor(kind: HttpTrouble["kind"], doing: string, why: string, trace: Trace, cause?: unknown) {
    super(`${doing}: ${why}`, cause === undefined ? undefined : { cause });
    this.kind = kind;
    const code = systemCode(cause);
    // undici's name for it.
    this.code = code === "UND_ERR_SOCKET" ? "ECONNRESET" : code;
    this.phase = trace.phase;
    this.reused = trace.reused;
    this.why = why;
  }
}

/** Requests to one place. What is kept open is closed with it. */
export class HttpClient {
  readonly #clock: Clock;
  readonly #wire: HttpWire;
  readonly #url: URL;

  constructor(options: HttpClientOptions) {
    const { clock, socketPath, tls = {}, keepMs, wire = nodeWire } = options;
    this.#clock = clock;
    this.#url = new URL(options.origin);
    const ask = typeof tls === "function" ? tls : () => Promise.resolve(tls);
    this.#wire = wire({ url: this.#url, socketPath, tls: ask, keepMs });
  }

  /** Resolves when status and headers are there, whatever they say; rejects with `HttpTrouble` or the signal's reason. */
  async request(asked: HttpRequest): Promise<HttpReply> {
    const { method, path, body, fresh = false } = asked;
    const doing = asked.doing ?? `${method} ${this.#url.origin}${path.split("?", 1)[0]}`;
    const trace: Trace = { phase: "connecting", reused: false };
    const watch = watchOver(asked, doing, trace, this.#clock);
    const wrong = (error: unknown) => watch.reason() ?? troubleOf(error, doing, trace);
    const headers = { host: this.#url.host, ...lengthOf(body), ...asked.headers };
    try {
      const sent = { method, path, headers, body: watch.pulled(body), fresh };
      const reply = await watch.race(this.#wire.send(sent, watch.signal, trace));
      watch.progress();
      return replyOf(reply, asked.largest ?? Number.POSITIVE_INFINITY, {
        piece: watch.progress,
        over: watch.stop,
        tooLarge: (most) =>
          new HttpTrouble("too-large", doing, `the answer is larger than ${sizeText(most)}`, trace),
        wrong,
      });
    } catch (error) {
      const thrown = wrong(error);
      watch.stop();
      throw thrown;
    }
  }

  close(): void {
    this.#wire.close();
  }
}

/** For one request, or a few to a place that is not asked again. */
export async function requestOnce(options: HttpClientOptions, asked: HttpRequest): Promise<HttpReply> {
  return await new HttpClient({ ...options, keepMs: undefined }).request(asked);
}

export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

function lengthOf(body: HttpBody | undefined): { readonly "content-length"?: string } {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return {};
  return { "content-length": String(Buffer.byteLength(body)) };
}

function troubleOf(error: unknown, doing: string, trace: Trace): Error {
  if (error instanceof HttpTrouble) return error;
  if (error instanceof UnusableOptions)
    return new HttpTrouble("unusable", doing, messageTrail(error.cause), trace, error.cause);
  const cut = trace.phase === "answering" ? "the connection was cut in the middle of the answer" : undefined;
  const why = cut ?? (messageTrail(error) || systemCode(error) || "it failed");
  return new HttpTrouble("broken", doing, why, trace, error);
}

const sizeText = (bytes: number) => (bytes >= 1 << 20 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`);

/** The deadlines of one request, and its signal. */
function watchOver(asked: HttpRequest, doing: string, trace: Trace, clock: Clock) {
  const { signal: outer, withinMs, connectMs, idleMs } = asked;
  const controller = new AbortController();
  const { signal } = controller;
  const after = (ms: number | undefined, expired: (ms: number) => void) =>
    ms === undefined ? () => {} : clock.after(ms, () => expired(ms));
  const end = (kind: HttpTrouble["kind"], why: string) =>
    controller.abort(new HttpTrouble(kind, doing, why, trace));
  const startIdle = () => after(idleMs, (ms) => end("silent", `nothing came for ${ms / 1000} s`));
  const whole = after(withinMs, (ms) => end("late", `it did not finish within ${ms / 1000} s`));
  const connect = after(connectMs, (ms) => {
    if (trace.phase === "connecting" || trace.phase === "handshake")
      end("silent", `no connection within ${ms / 1000} s`);
  });
  let idle = startIdle();
  let unread: Error | undefined;
  const onOuter = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", onOuter, { once: true });
  if (outer?.aborted) onOuter();
  const progress = () => {
    idle();
    idle = startIdle();
  };
  return {
    signal,
    progress,
    /** Ends the wait when the signal is aborted, also if the wire does not listen to it at once. */
    race: <T>(work: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        const cut = () => reject(signal.reason as Error);
        signal.addEventListener("abort", cut, { once: true });
        if (signal.aborted) cut();
        work.then(resolve, reject).finally(() => signal.removeEventListener("abort", cut));
      }),
    /** Why this side ended it; undefined when it was the other. */
    reason: (): Error | undefined => unread ?? (signal.aborted ? (signal.reason as Error) : undefined),
    /** Gives failures of the body's source an error of their own. */
    pulled: (body: HttpBody | undefined): HttpBody | undefined =>
      body === undefined || typeof body === "string" || body instanceof Uint8Array
        ? body
        : each(body, progress, (error) => {
            unread = error;
          }),
    stop: () => {
      for (const cancel of [whole, connect, idle]) cancel();
      outer?.removeEventListener("abort", onOuter);
    },
  };
}

async function* each(
  pieces: AsyncIterable<Uint8Array>,
  told: () => void,
  failed: (error: Error) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) {
      told();
      yield piece;
    }
  } catch (error) {
    failed(toError(error));
    throw error;
  }
}

interface ReplyEvents {
  readonly piece: () => void;
  readonly over: () => void;
  readonly tooLarge: (most: number) => Error;
  readonly wrong: (error: unknown) => Error;
}

function replyOf({ status, headers, body }: WireReply, largest: number, events: ReplyEvents): HttpReply {
  // Nobody may be reading when a deadline ends it.
  body.on("error", () => undefined);
  body.once("close", events.over);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        events.piece();
        size += piece.length;
        if (size > largest) throw events.tooLarge(largest);
        yield piece;
      }
    } catch (error) {
      throw events.wrong(error);
    } finally {
      body.destroy();
    }
  }
  const bytes = async () => {
    const all: Uint8Array[] = [];
    for await (const piece of pieces()) all.push(piece);
    return Buffer.concat(all);
  };
  return {
    status,
    headerNames: Object.keys(headers),
    header: (name) => {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: { [Symbol.asyncIterator]: pieces },
    bytes,
    text: async () => (await bytes()).toString("utf8"),
    discard: () => void body.destroy(),
  };
}
