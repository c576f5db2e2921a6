import { isPinnable } from "@slipway/engine/documents/pins";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { VariableMissing } from "@slipway/engine/variables/errors";
import type { Variable } from "@slipway/engine/variables/resolve";
import type { Clock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import { HttpClient, HttpTrouble } from "@slipway/kernel/http/client";
import { isObject } from "@slipway/protocol/schema/json";
import { ConfigServerAway, FetchFailed, GenerationRefused } from "./errors.ts";
import { UaaToken } from "./uaa-token.ts";

export interface ExternalOptions {
  readonly url: string;
  /** PEM. Without one those of the system are believed. */
  readonly ca?: string | undefined;
  readonly uaa: {
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly ca?: string | undefined;
  };
  readonly clock: Clock;
}

const TRIES = 3;
const PAUSE_MS = 250;
const WITHIN_MS = 30_000;
const CONNECT_MS = 10_000;
const LARGEST = 8 << 20;

interface Answer {
  readonly status: number;
  /** Undefined: it was no JSON. */
  readonly body: unknown;
}

/** A config server that speaks CredHub's older interface. */
export class ExternalConfigServer implements ConfigServer {
  readonly #http: HttpClient;
  readonly #token: UaaToken;
  readonly #base: URL;
  readonly #clock: Clock;

  constructor({ url, ca, uaa, clock }: ExternalOptions) {
    this.#base = new URL(url.endsWith("/") ? url : `${url}/`);
    this.#clock = clock;
    this.#http = new HttpClient({ origin: url, clock, tls: ca === undefined ? {} : { ca } });
    this.#token = new UaaToken({ ...uaa, clock });
  }

  async newest(name: string, signal?: AbortSignal): Promise<Variable> {
    const query = new URLSearchParams({ name, current: "true" });
    const fail = (why: string) => FetchFailed({ name, why });
    const { status, body } = await this.#ask("GET", `v1/data?${query}`, `fetching '${name}'`, signal);
    if (status === 404) throw VariableMissing({ name, why: saidBy(body) });
    if (body === undefined) throw fail("Invalid JSON response");
    if (status !== 200) throw fail(`HTTP Code '${status}', Error: '${saidBy(body)}'`);
    const data = isObject(body) ? body.data : undefined;
    if (!Array.isArray(data)) throw fail("Expected data to be an array");
    if (data.length === 0) throw fail("Expected data to be non empty array");
    return variableIn(data[0], "data[0]", fail);
  }

  async byId(id: string, name: string, signal?: AbortSignal): Promise<Variable> {
    const fail = (why: string) => FetchFailed({ name, id, why });
    const path = `v1/data/${encodeURIComponent(id)}`;
    const { status, body } = await this.#ask("GET", path, `fetching '${name}'`, signal);
    if (status === 404) throw VariableMissing({ name, id, why: saidBy(body) });
    if (body === undefined) throw fail("Invalid JSON response");
    if (status !== 200) throw fail(`HTTP Code '${status}', Error: '${saidBy(body)}'`);
    const variable = variableIn(body, "response", fail);
    if (variable.id !== id) throw fail(`Expected response to have id '${id}'`);
    return variable;
  }

  async generate(
    { name, type, options, mode }: Parameters<ConfigServer["generate"]>[0],
    signal?: AbortSignal,
  ): Promise<string> {
    const fail = (why: string) => GenerationRefused({ name, type, why });
    const wanted = JSON.stringify({ name, type, parameters: options, mode });
    const { status, body } = await this.#ask("POST", "v1/data", `generating '${name}'`, signal, wanted);
    if (body === undefined) throw fail("It returned a NON-JSON body");
    if (status < 200 || status > 299) throw fail(`HTTP Code '${status}', Error: '${saidBy(body)}'`);
    return idIn(body, "response", fail);
  }

  close(): void {
    this.#http.close();
    this.#token.close();
  }

  /** A connection that fails is tried again; a token that is refused is renewed, once. */
  async #ask(
    method: string,
    path: string,
    doing: string,
    signal: AbortSignal | undefined,
    content?: string,
  ): Promise<Answer> {
    const answer = await this.#try(method, path, doing, signal, content);
    if (answer.status !== 401) return answer;
    this.#token.forget();
    const again = await this.#try(method, path, doing, signal, content);
    if (again.status === 401) throw this.#away(doing, "it refuses the token of the UAA (HTTP 401)");
    return again;
  }

  async #try(
    method: string,
    path: string,
    doing: string,
    signal: AbortSignal | undefined,
    content: string | undefined,
  ): Promise<Answer> {
    const url = new URL(path, this.#base);
    for (let tried = 1; ; tried++) {
      const authorization = await this.#token.header(signal);
      try {
        const reply = await this.#http.request({
          method,
          path: `${url.pathname}${url.search}`,
          headers: {
            authorization,
            accept: "application/json",
            ...(content !== undefined && { "content-type": "application/json" }),
          },
          body: content,
          signal,
          withinMs: WITHIN_MS,
          connectMs: CONNECT_MS,
          largest: LARGEST,
        });
        return { status: reply.status, body: parsed(await reply.text()) };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof HttpTrouble)) throw error;
        // What takes too long once takes too long again.
        if (error.kind !== "broken" || tried >= TRIES) throw this.#away(doing, error.why, error);
        await this.#clock.sleep(PAUSE_MS, signal);
      }
    }
  }

  #away(doing: string, why: string, cause?: unknown): Error {
    return ConfigServerAway({ doing, url: this.#base.origin, why }, { cause: cause && toError(cause) });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const SAID = 200;

/** The server's own words for a refusal. */
function saidBy(body: unknown): string {
  const said = isObject(body) ? body.error : undefined;
  return typeof said === "string" ? said.replace(/[^\x20-\x7e]/g, "?").slice(0, SAID) : "";
}

function variableIn(body: unknown, what: string, fail: (why: string) => Error): Variable {
  const id = idIn(body, what, fail);
  if (!isObject(body) || !Object.hasOwn(body, "value")) throw fail(`Expected ${what} to have key 'value'`);
  return { id, value: body.value };
}

function idIn(body: unknown, what: string, fail: (why: string) => Error): string {
  if (!isObject(body)) throw fail(`Expected ${what} to be a hash`);
  const { id } = body;
  const text = typeof id === "number" ? String(id) : id;
  if (typeof text !== "string") throw fail(`Expected ${what} to have key 'id'`);
  if (!isPinnable(text)) throw fail(`Expected 'id' of ${what} to be letters, digits and dashes`);
  return text;
}
