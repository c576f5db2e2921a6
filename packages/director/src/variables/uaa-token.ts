import type { Clock } from "@slipway/kernel/clock";
import { basicAuth, HttpClient, HttpTrouble } from "@slipway/kernel/http/client";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { NoToken } from "./errors.ts";

const reply = open({
  access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/)),
  expires_in: v.optional(v.number()),
});

const WITHIN_MS = 30_000;
const LARGEST = 1 << 20;
/** Time before its end at which a token is replaced: it could be refused on its way. */
const BEFORE_MS = 10_000;

export interface UaaOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly ca?: string | undefined;
  readonly clock: Clock;
}

/** A bearer token by client credentials, asked for when one is needed. */
export class UaaToken {
  readonly #options: UaaOptions;
  readonly #http: HttpClient;
  #token: { readonly header: string; readonly until: number } | undefined;

  constructor(options: UaaOptions) {
    this.#options = options;
    const { url, ca, clock } = options;
    this.#http = new HttpClient({ origin: url, clock, tls: ca === undefined ? {} : { ca } });
  }

  async header(signal?: AbortSignal): Promise<string> {
    const { clock } = this.#options;
    if (this.#token === undefined || clock.now() >= this.#token.until)
      this.#token = await this.#fetch(signal);
    return this.#token.header;
  }

  /** Forgets a token that was refused. */
  forget(): void {
    this.#token = undefined;
  }

  close(): void {
    this.#http.close();
  }

  async #fetch(signal: AbortSignal | undefined) {
    const { url, clientId, clientSecret, clock } = this.#options;
    const fail = (why: string, cause?: unknown) => NoToken({ url: new URL(url).origin, why }, { cause });
    let status: number;
    let text: string;
    try {
      const answer = await this.#http.request({
        method: "POST",
        path: `${new URL(url).pathname.replace(/\/$/, "")}/oauth/token`,
        headers: {
          authorization: basicAuth(clientId, clientSecret),
          accept: "application/json",
          "content-type": "application/x-www-form-urlencoded",
        },
        body: "grant_type=client_credentials",
        signal,
        withinMs: WITHIN_MS,
        largest: LARGEST,
      });
      status = answer.status;
      text = await answer.text();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof HttpTrouble)) throw error;
      throw fail(error.why, error);
    }
    if (status !== 200) throw fail(`it answers HTTP ${status}`);
    const read = v.safeParse(reply, parsed(text));
    if (!read.success) throw fail("its answer has no access token");
    const lasts = (read.output.expires_in ?? 600) * 1000;
    return { header: `bearer ${read.output.access_token}`, until: clock.now() + lasts - BEFORE_MS };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
