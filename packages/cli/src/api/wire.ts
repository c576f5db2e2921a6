import type { ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode, toError } from "@slipway/kernel/errors";
import { Interrupted } from "../ui/errors.ts";
import { NotReachable } from "./errors.ts";
import { transportError, wasCertificate } from "./trouble.ts";

export interface WireOptions {
  readonly url: string;
  /** PEM text. When given it replaces the system's authorities. */
  readonly ca: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** How often a request is tried whose connection failed; five times unless told otherwise. */
  readonly attempts?: number;
}

export interface Sent {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | ReadStream | undefined;
}

/** For reads that can wait until a Director is back. */
export interface Patience {
  /** Since the connection failed. */
  readonly ms: number;
  /** Told when the usual tries have failed. */
  readonly waits: () => void;
}

export interface Reply {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Buffer;
}

const ATTEMPTS = 5;
const PAUSE_MS = 500;
const CONNECT_MS = 15_000;
/** Of a Director that says nothing at all; longer work is a task. */
const SILENT_MS = 10 * 60_000;
const LARGEST = 512 * 1024 * 1024;

/** Requests over TLS to one Director. */
export class Wire {
  readonly #options: WireOptions;
  readonly #reads: Agent;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#reads = new Agent({ keepAlive: true, ...this.#tls() });
  }

  /**
   * Tried again as upstream does, five times half a second apart: reads whatever the trouble of the connection, writes
   * only where the request cannot have arrived. A write that was sent twice could be two tasks.
   */
  async send(sent: Sent, patience?: Patience): Promise<Reply> {
    const { clock, stop, url, attempts: most = ATTEMPTS } = this.#options;
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
        if (stop.aborted) throw new Interrupted();
        const again = !wasCertificate(error) && (reading || neverArrived(error));
        if (!again || !more()) throw transportError(url, error);
      }
      await clock.sleep(PAUSE_MS, stop).catch(() => {
        throw new Interrupted();
      });
    }
  }

  close(): void {
    this.#reads.destroy();
  }

  #tls() {
    const { ca } = this.#options;
    return { minVersion: "TLSv1.2" as const, ...(ca === undefined ? {} : { ca }) };
  }

  async #once({ method, path, headers, body }: Sent): Promise<Reply> {
    const { url, user, password, clock, stop } = this.#options;
    const { hostname, port } = new URL(url);
    const length = await lengthOf(body);
    return await new Promise<Reply>((resolve, reject) => {
      const request = httpsRequest({
        host: hostname.replace(/^\[|\]$/g, ""),
        port,
        method,
        path,
        signal: stop,
        // Each write has a connection of its own: that one was kept too long must not make it doubtful.
        ...(method === "GET" ? { agent: this.#reads } : { agent: false, ...this.#tls() }),
        headers: {
          ...headers,
          ...(length === undefined ? {} : { "content-length": String(length) }),
          ...(user === undefined ? {} : { authorization: basic(user, password ?? "") }),
        },
      });
      const late = clock.after(CONNECT_MS, () =>
        request.destroy(NotReachable({ url, why: `no connection within ${CONNECT_MS / 1000} s` })),
      );
      request.on("socket", (socket) => {
        if (request.reusedSocket) late();
        else socket.once("secureConnect", late);
      });
      request.setTimeout(SILENT_MS, () =>
        request.destroy(NotReachable({ url, why: "it has said nothing for ten minutes" })),
      );
      let answered = false;
      request.on("response", (response) => {
        answered = true;
        late();
        read(response).then(resolve, reject);
      });
      request.on("error", (error) => {
        late();
        // A Director that refuses an upload answers before it has read it.
        if (!answered) reject(error);
      });
      if (typeof body === "object") {
        body.on("error", (error) => request.destroy(error));
        body.pipe(request);
      } else request.end(body);
    });
  }
}

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

async function lengthOf(body: string | ReadStream | undefined): Promise<number | undefined> {
  if (body === undefined) return undefined;
  if (typeof body === "string") return Buffer.byteLength(body);
  return (await stat(body.path)).size;
}

const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const neverArrived = (error: unknown): boolean => UNSENT.has(systemCode(error) ?? "");

function read(response: IncomingMessage): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST) response.destroy(new Error("the answer is larger than 512 MiB"));
      else chunks.push(chunk);
    });
    response.on("error", (error) => reject(toError(error)));
    response.on("aborted", () => reject(new Error("the connection was cut in the middle of the answer")));
    response.on("end", () =>
      resolve({
        status: response.statusCode ?? 0,
        location: response.headers.location,
        body: Buffer.concat(chunks),
      }),
    );
  });
}
