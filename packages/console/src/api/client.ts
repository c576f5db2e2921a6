import { refusal } from "@slipway/protocol/director/refusal";
import { check } from "@slipway/protocol/schema/check";
import type { Schema } from "@slipway/protocol/schema/marks";
import type * as v from "valibot";
import { browser } from "./browser.ts";

/** Why a request has no answer that can be shown. */
export interface Problem {
  readonly kind: "forbidden" | "missing" | "failed" | "offline";
  readonly why: string;
}

export type Answer<T> =
  | { readonly kind: "value"; readonly value: T; readonly etag: string | undefined }
  | { readonly kind: "unchanged" }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Longest time for an answer. The page asks again after it. */
const WITHIN_MS = 30_000;

const encoded = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

export const basicCredentials = (name: string, password: string): string =>
  `Basic ${encoded(`${name}:${password}`)}`;

/**
 * Asks the API with credentials that exist in this object only. The browser neither stores them nor adds them to a request
 * by itself, so that no other page can use them.
 */
export class Client {
  readonly #authorization: string;
  readonly #onRefused: () => void;
  readonly #listeners = new Set<(offline: boolean) => void>();
  #offline = false;

  /** `onRefused` is called when the Director does not accept the credentials any more. */
  constructor(authorization: string, onRefused: () => void) {
    this.#authorization = authorization;
    this.#onRefused = onRefused;
  }

  /** Calls back when the Director stops answering or answers again. */
  watch(listener: (offline: boolean) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#offline);
    return () => this.#listeners.delete(listener);
  }

  async get<const S extends Schema>(
    path: string,
    schema: S,
    has?: string,
  ): Promise<Answer<v.InferOutput<S>>> {
    const response = await this.send(path, { headers: has === undefined ? {} : { "if-none-match": has } });
    if ("kind" in response) return { kind: "problem", problem: response };
    if (response.status === 304) return { kind: "unchanged" };
    return await readAnswer(response, schema);
  }

  /** Changes something. Directors answer with the task that does it; the browser follows the redirect. */
  async change<const S extends Schema>(
    method: "POST" | "PUT" | "DELETE",
    path: string,
    schema: S,
  ): Promise<Answer<v.InferOutput<S>>> {
    const response = await this.send(path, { method });
    if ("kind" in response) return { kind: "problem", problem: response };
    return await readAnswer(response, schema);
  }

  /** Returns the response, or why there is none. 401 ends the session. */
  async send(path: string, init: RequestInit): Promise<Response | Problem> {
    try {
      const headers = { ...(init.headers as Record<string, string>), authorization: this.#authorization };
      const response = await browser.send(path, { ...init, headers, signal: AbortSignal.timeout(WITHIN_MS) });
      // A proxy answers for a Director that is being restarted.
      const offline = [502, 503, 504].includes(response.status);
      this.#setOffline(offline);
      if (offline) return { kind: "offline", why: `The answer was ${response.status}.` };
      // A missing scope is 401, too, as at upstream's Director, but does not ask for other credentials.
      if (response.status === 401 && response.headers.has("www-authenticate")) this.#onRefused();
      return response;
    } catch {
      this.#setOffline(true);
      return { kind: "offline", why: "The Director does not answer." };
    }
  }

  #setOffline(offline: boolean): void {
    if (offline === this.#offline) return;
    this.#offline = offline;
    for (const listener of this.#listeners) listener(offline);
  }
}

async function readAnswer<const S extends Schema>(
  response: Response,
  schema: S,
): Promise<Answer<v.InferOutput<S>>> {
  const problem = await problemOf(response);
  if (problem !== undefined) return { kind: "problem", problem };
  try {
    const text = await response.text();
    const checked = check(schema, text === "" ? null : JSON.parse(text), "the answer");
    if (!checked.ok)
      return { kind: "problem", problem: { kind: "failed", why: checked.problems.join("; ") } };
    return { kind: "value", value: checked.value, etag: response.headers.get("etag") ?? undefined };
  } catch {
    return { kind: "problem", problem: { kind: "failed", why: "The answer cannot be read." } };
  }
}

/** Returns why the Director refused, or undefined if it did not. */
export async function problemOf(response: Response): Promise<Problem | undefined> {
  if (response.ok) return undefined;
  const text = await response.text().catch(() => "");
  const why = descriptionIn(text) ?? `The Director answered ${response.status}.`;
  if (response.status === 401 || response.status === 403) return { kind: "forbidden", why };
  return { kind: response.status === 404 ? "missing" : "failed", why };
}

function descriptionIn(text: string): string | undefined {
  try {
    const checked = check(refusal, JSON.parse(text));
    return checked.ok ? checked.value.description : undefined;
  } catch {
    return undefined;
  }
}
