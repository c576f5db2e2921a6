import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { basicAuth, HttpClient, HttpTrouble } from "@slipway/kernel/http/client";
import type { MakeWire } from "@slipway/kernel/http/wire";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { trimEnd } from "@slipway/kernel/text";
import { check } from "@slipway/protocol/schema/check";
import { loginInfo, tokenReply } from "@slipway/protocol/uaa/token";
import type * as v from "valibot";
import { proxyTrouble } from "../proxy/errors.ts";
import { BadUaaUrl, UaaAway, UaaRefused } from "./errors.ts";

export interface UaaOptions {
  readonly url: string;
  /** The Director's certificate authority, as upstream uses it. */
  readonly ca: string | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly wire?: MakeWire | undefined;
}

/** Client name of the CLI itself; upstream's name, without a secret. */
export const CLI_CLIENT = { id: "bosh_cli", secret: "" };

export interface UaaClientName {
  readonly id: string;
  readonly secret: string;
}

export interface Prompt {
  readonly key: string;
  readonly label: string;
  readonly hidden: boolean;
}

export type TokenPair = v.InferOutput<typeof tokenReply>;

const WITHIN_MS = 60_000;
const LARGEST = 1 << 20;

/** Client of a UAA. Sends secrets in bodies and headers only. */
export class UaaClient {
  readonly url: string;
  readonly #base: URL;
  readonly #http: HttpClient;
  readonly #stop: AbortSignal;

  constructor({ url, ca, clock, stop, wire }: UaaOptions) {
    if (!URL.canParse(url) || new URL(url).protocol !== "https:") throw BadUaaUrl({ url });
    this.url = url;
    this.#base = new URL(url);
    this.#stop = stop;
    this.#http = new HttpClient({ origin: url, clock, tls: { ca }, wire });
  }

  /** Returns the prompts for a user, hidden ones last. */
  async prompts(): Promise<readonly Prompt[]> {
    const { prompts } = await this.#ask("GET", "/login", CLI_CLIENT, undefined, loginInfo);
    const all = Object.entries(prompts).map(([key, [type, label]]) => ({
      key,
      label: label ?? key,
      hidden: type === "password",
    }));
    return [...all.filter(({ hidden }) => !hidden), ...all.filter(({ hidden }) => hidden)];
  }

  /** Throws `UaaRefused` where what was given is wrong. */
  async grant(client: UaaClientName, form: Readonly<Record<string, string>>): Promise<TokenPair> {
    return await this.#ask("POST", "/oauth/token", client, new URLSearchParams(form).toString(), tokenReply);
  }

  close(): void {
    this.#http.close();
  }

  async #ask<const S extends v.GenericSchema>(
    method: string,
    path: string,
    client: UaaClientName,
    body: string | undefined,
    schema: S,
  ): Promise<v.InferOutput<S>> {
    const { url } = this;
    let status: number;
    let text: string;
    try {
      const reply = await this.#http.request({
        method,
        path: `${trimEnd(this.#base.pathname, "/")}${path}`,
        headers: {
          accept: "application/json",
          authorization: basicAuth(client.id, client.secret),
          ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
        },
        body,
        signal: this.#stop,
        withinMs: WITHIN_MS,
        largest: LARGEST,
      });
      status = reply.status;
      text = await reply.text();
    } catch (error) {
      if (!(error instanceof HttpTrouble)) throw error;
      throw proxyTrouble(error) ?? UaaAway({ url, why: error.why }, { cause: error });
    }
    if (status === 400 || status === 401) throw UaaRefused({ url, client: client.id });
    if (status !== 200) throw UaaAway({ url, why: `it answers HTTP ${status}` });
    let document: unknown;
    try {
      document = parseStrictJson(text, "its answer");
    } catch (cause) {
      throw UaaAway({ url, why: messageTrail(cause) });
    }
    const checked = check(schema, document, "its answer");
    if (!checked.ok) throw UaaAway({ url, why: checked.problems.join("; ") });
    return checked.value;
  }
}
