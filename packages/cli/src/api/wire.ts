import type { ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { basicAuth, HttpClient, type HttpReply, HttpTrouble } from "@slipway/kernel/http/client";
import type { MakeWire } from "@slipway/kernel/http/wire";
import { ProxyAway, proxyTrouble } from "../proxy/errors.ts";
import { Interrupted } from "../ui/errors.ts";
import { NotReachable } from "./errors.ts";
import type { TokenSource } from "./token-source.ts";
import { transportError, wasCertificate } from "./transport-error.ts";

export interface WireOptions {
  readonly url: string;
  /** PEM text. When given it replaces the system's authorities. */
  readonly ca: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Instead of name and password, where there are any. Asked with the first request, not before. */
  readonly tokens?: (() => Promise<TokenSource | undefined>) | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Number of attempts of a request whose connection fails; default: five. */
  readonly attempts?: number;
  /** Opens connections that are not direct, such as through a proxy. */
  readonly wire?: MakeWire | undefined;
}

export interface WireRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | ReadStream | undefined;
  /** Sent also after Ctrl-C. */
  readonly last?: boolean | undefined;
}

/** For reads that can wait until a Director is back. */
export interface RetryWindow {
  /** Since the connection failed. */
  readonly ms: number;
  /** Called when the usual attempts have failed. */
  readonly waits: () => void;
}

export interface WireReply {
  readonly status: number;
  readonly location: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const ATTEMPTS = 5;
const PAUSE_MS = 500;
const CONNECT_MS = 15_000;
/** Timeout for a Director that sends nothing at all; longer work is a task. */
const SILENT_MS = 10 * 60_000;
const LARGEST = 512 * 1024 * 1024;
const KEEP_MS = 60_000;

/** Requests over TLS to one Director. */
export class DirectorWire {
  readonly #options: WireOptions;
  readonly #http: HttpClient;
  #known: { readonly tokens: TokenSource | undefined } | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
    const { url, clock, ca, wire } = options;
    this.#http = new HttpClient({ origin: url, clock, tls: { ca }, keepMs: KEEP_MS, wire });
  }

  /**
   * Tried again as upstream does, five times half a second apart: reads whatever the trouble of the connection, writes
   * only where the request cannot have arrived. A write that was sent twice could be two tasks.
   */
  async send(sent: WireRequest, patience?: RetryWindow): Promise<WireReply> {
    const { clock, url, attempts: most = ATTEMPTS } = this.#options;
    const stop = this.#stopOf(sent);
    const reading = sent.method === "GET";
    const attempts = typeof sent.body === "object" ? 1 : most;
    let until: number | undefined;
    for (let attempt = 1; ; attempt++) {
      const more = () => {
        const now = clock.monotonic();
        until ??= now + (patience?.ms ?? 0);
        if (attempt === attempts) patience?.waits();
        return attempt < attempts || now < until;
      };
      try {
        const reply = await this.#once(sent);
        if (!(reading && [502, 503, 504].includes(reply.status) && more())) return reply;
      } catch (error) {
        if (stop?.aborted) throw new Interrupted();
        const again = !isLasting(error) && (reading || neverArrived(error));
        if (!again || !more()) throw transportError(url, error);
      }
      await clock.sleep(PAUSE_MS, stop).catch(() => {
        throw new Interrupted();
      });
    }
  }

  /** Downloads content that may be larger than memory. Tries once: the caller may ask again. */
  async download<T>(
    sent: WireRequest,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<{ readonly taken: T } | { readonly refused: WireReply }> {
    const { stop, url } = this.#options;
    try {
      const reply = await this.#request(sent, Number.POSITIVE_INFINITY);
      if (reply.status !== 200) return { refused: await whole(reply) };
      return { taken: await take(reply.body) };
    } catch (error) {
      if (stop.aborted) throw new Interrupted();
      throw error instanceof HttpTrouble ? transportError(url, error) : error;
    }
  }

  close(): void {
    this.#http.close();
    this.#known?.tokens?.close();
  }

  /** With a new token, if the Director does not take the one there was. */
  async #once(sent: WireRequest): Promise<WireReply> {
    const reply = await whole(await this.#request(sent, LARGEST));
    const again = reply.status === 401 && this.#known?.tokens !== undefined && typeof sent.body !== "object";
    return again && !isKnown(reply) ? await whole(await this.#request(sent, LARGEST, true)) : reply;
  }

  #stopOf({ last = false }: WireRequest): AbortSignal | undefined {
    return last ? undefined : this.#options.stop;
  }

  async #authorization(fresh: boolean): Promise<Readonly<Record<string, string>>> {
    const { user, password } = this.#options;
    this.#known ??= { tokens: await this.#options.tokens?.() };
    const { tokens } = this.#known;
    if (tokens !== undefined) return { authorization: await tokens.header(fresh) };
    return user === undefined ? {} : { authorization: basicAuth(user, password ?? "") };
  }

  async #request(sent: WireRequest, largest: number, fresh = false): Promise<HttpReply> {
    const { method, path, headers, body } = sent;
    // A file cannot be sent twice, and takes its time.
    const authorization = await this.#authorization(fresh || typeof body === "object" || largest > LARGEST);
    return await this.#http.request({
      method,
      path,
      headers: {
        ...headers,
        ...(await lengthOf(body)),
        ...authorization,
      },
      body,
      signal: this.#stopOf(sent),
      connectMs: CONNECT_MS,
      idleMs: SILENT_MS,
      largest,
      // A write that was sent on a connection that had been closed would be doubtful.
      fresh: method !== "GET",
    });
  }
}

const whole = async (reply: HttpReply): Promise<WireReply> => ({
  status: reply.status,
  location: reply.header("location"),
  headers: reply.headerNames.map((name) => [name, reply.header(name) ?? ""]),
  body: await reply.bytes(),
});

/** True if the Director knows the user but does not permit the request. */
export const isKnown = ({ body }: Pick<WireReply, "body">): boolean => body.includes('"code":600000');

/** Returns the `content-length` of a file that is sent; a text has its own. */
async function lengthOf(body: string | ReadStream | undefined): Promise<Record<string, string>> {
  return typeof body === "object" ? { "content-length": String((await stat(body.path)).size) } : {};
}

/** Asking again would not help: a certificate, a proxy that does not want us, or who asked for a token has tried enough. */
const isLasting = (error: unknown): boolean =>
  wasCertificate(error) ||
  NotReachable.is(error) ||
  ProxyAway.is(error) ||
  proxyTrouble(error)?.kind === "operator";

const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const neverArrived = (error: unknown): boolean => UNSENT.has(systemCode(error) ?? "");
