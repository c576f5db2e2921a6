import { createPublicKey } from "node:crypto";
import type { Clock } from "@slipway/kernel/clock";
import { trimEnd } from "@slipway/kernel/text";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { certificateOf } from "../variables/open.ts";
import { type ClaimRules, judgeClaims } from "./claims.ts";
import { BadUaaKey, TokenRefused } from "./errors.ts";
import { publicKey, readJwt, sharedKey, type VerifyKey } from "./jwt.ts";
import { FetchedKeys, fixedKeys, type Keys } from "./keys.ts";

export interface TokenUser {
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Judges tokens of users. */
export interface Tokens {
  /** Addresses where tokens are issued, for `/info`. */
  readonly urls: readonly [string, ...string[]];
  /** Returns the user of the token, or undefined if it is refused. Throws if that cannot be known. */
  judge(token: string): Promise<TokenUser | undefined>;
  close(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Undefined when the configuration names no UAA. Nothing is asked of it yet. */
export async function openTokens(config: DirectorConfig["uaa"], parts: Parts): Promise<Tokens | undefined> {
  if (config === undefined) return undefined;
  const [first, ...more] = [config.url ?? [], config.urls ?? []].flat().map((url) => trimEnd(url, "/"));
  if (first === undefined) return undefined;
  const urls = [first, ...more] as const;
  const rules: ClaimRules = {
    issuers: config.issuer === undefined ? urls.map((url) => `${url}/oauth/token`) : [config.issuer],
    audience: config.audience,
  };
  const keys = await keysOf(config, first, parts.clock);
  return { urls, judge: (token) => judge(token, keys, rules, parts), close: () => keys.close() };
}

async function keysOf(config: NonNullable<DirectorConfig["uaa"]>, url: string, clock: Clock): Promise<Keys> {
  const fixed: VerifyKey[] = [];
  if (config.symmetric_key !== undefined) fixed.push(sharedKey(config.symmetric_key));
  const pem = await certificateOf("uaa.public_key", config.public_key);
  if (pem !== undefined) fixed.push(pemKey(pem));
  if (fixed.length > 0) return fixedKeys(fixed);
  const ca = await certificateOf("uaa.ca", config.ca);
  return new FetchedKeys({ url: config.keys_url ?? `${url}/token_keys`, ca, clock });
}

function pemKey(pem: string): VerifyKey {
  const failed = (cause?: unknown) => BadUaaKey({ what: "uaa.public_key" }, { cause });
  try {
    const key = publicKey(createPublicKey(pem));
    if (key !== undefined) return key;
  } catch (cause) {
    throw failed(cause);
  }
  throw failed();
}

async function judge(
  text: string,
  keys: Keys,
  rules: ClaimRules,
  { clock, onError }: Parts,
): Promise<TokenUser | undefined> {
  const token = readJwt(text);
  if (token === undefined) return undefined;
  const candidates = await keys.find(token.header.kid);
  const verified = await Promise.all(candidates.map((key) => key.verifies(token)));
  if (!verified.includes(true)) return undefined;
  const verdict = judgeClaims(token, rules, clock.now());
  if (verdict.ok) return { name: verdict.name, scopes: verdict.scopes };
  if (verdict.usual !== true) onError(TokenRefused({ why: verdict.why }));
  return undefined;
}
