import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { HttpClient, HttpTrouble } from "@slipway/kernel/http/client";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { tokenKeys } from "@slipway/protocol/uaa/token";
import { KeysUnavailable } from "./errors.ts";
import { publicKey, type VerifyKey } from "./jwt.ts";

export interface Keys {
  /** Returns the keys that may have signed a token which names this one. */
  find(kid: string | undefined): Promise<readonly VerifyKey[]>;
  close(): void;
}

const fits = (kid: string | undefined) => (key: VerifyKey) =>
  kid === undefined || key.kid === undefined || key.kid === kid;

export const fixedKeys = (keys: readonly VerifyKey[]): Keys => ({
  find: async (kid) => keys.filter(fits(kid)),
  close: () => undefined,
});

export interface FetchedKeysOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly clock: Clock;
}

/** Age after which keys are fetched again: a withdrawn key is not trusted for longer. */
const FRESH_MS = 10 * 60_000;
/** Age up to which the old keys count while the server does not answer. */
const STALE_MS = 60 * 60_000;
/** Pause between fetches, however many tokens name unknown keys. */
const AGAIN_MS = 30_000;
/** The same after a failure, which may be over soon. */
const RETRY_MS = 3000;
const WITHIN_MS = 10_000;
const LARGEST = 256 << 10;

/** Keys that the server publishes. New ones are noticed by tokens that name them. */
export class FetchedKeys implements Keys {
  readonly #options: FetchedKeysOptions;
  readonly #http: HttpClient;
  #known: { readonly keys: readonly VerifyKey[]; readonly at: number } | undefined;
  #failed: { readonly error: unknown; readonly at: number } | undefined;
  #fetching: Promise<void> | undefined;

  constructor(options: FetchedKeysOptions) {
    this.#options = options;
    const { url, ca, clock } = options;
    this.#http = new HttpClient({ origin: url, clock, tls: ca === undefined ? {} : { ca } });
  }

  async find(kid: string | undefined): Promise<readonly VerifyKey[]> {
    if (this.#age() > FRESH_MS) await this.#refresh();
    const found = this.#known?.keys.filter(fits(kid)) ?? [];
    if (found.length > 0 || this.#age() < AGAIN_MS) return found;
    await this.#refresh();
    return this.#known?.keys.filter(fits(kid)) ?? [];
  }

  close(): void {
    this.#http.close();
  }

  #age(): number {
    return this.#known === undefined
      ? Number.POSITIVE_INFINITY
      : this.#options.clock.monotonic() - this.#known.at;
  }

  /** Fetches the keys, one request at a time. Throws if none of the keys may be used any more. */
  async #refresh(): Promise<void> {
    const { clock } = this.#options;
    if (this.#failed === undefined || clock.monotonic() - this.#failed.at >= RETRY_MS) {
      this.#fetching ??= this.#try().finally(() => {
        this.#fetching = undefined;
      });
      await this.#fetching;
    }
    if (this.#failed !== undefined && this.#age() > STALE_MS) throw this.#failed.error;
  }

  async #try(): Promise<void> {
    const { clock } = this.#options;
    try {
      const keys = await this.#fetch();
      this.#known = { keys, at: clock.monotonic() };
      this.#failed = undefined;
    } catch (error) {
      this.#failed = { error, at: clock.monotonic() };
    }
  }

  async #fetch(): Promise<readonly VerifyKey[]> {
    const { url } = this.#options;
    const { pathname, search } = new URL(url);
    const fail = (why: string, cause?: unknown) => KeysUnavailable({ url, why }, { cause });
    let text: string;
    try {
      const answer = await this.#http.request({
        method: "GET",
        path: `${pathname}${search}`,
        headers: { accept: "application/json" },
        withinMs: WITHIN_MS,
        largest: LARGEST,
      });
      if (answer.status !== 200) {
        answer.discard();
        throw fail(`it answers HTTP ${answer.status}`);
      }
      text = await answer.text();
    } catch (error) {
      throw error instanceof HttpTrouble ? fail(error.why, error) : error;
    }
    let document: unknown;
    try {
      document = parseStrictJson(text, "it");
    } catch (cause) {
      throw fail(messageTrail(cause));
    }
    const checked = check(tokenKeys, document, "its answer");
    if (!checked.ok) throw fail(checked.problems.join("; "));
    return checked.value.keys.flatMap((key) => keyOf(key) ?? []);
  }
}

/** Keys for other purposes, and of kinds we do not use, are passed over. A shared secret is never taken from there. */
function keyOf(
  key: JsonWebKey & { kid?: string | undefined; use?: string | undefined; alg?: string | undefined },
) {
  if (key.use !== undefined && key.use !== "sig") return undefined;
  if (key.kty !== "RSA" && key.kty !== "EC") return undefined;
  try {
    return publicKey(createPublicKey({ key, format: "jwk" }), { kid: key.kid, alg: key.alg });
  } catch {
    return undefined;
  }
}
