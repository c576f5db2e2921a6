import { createSecretKey, type KeyObject } from "node:crypto";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { matches } from "@slipway/protocol/schema/check";
import { type TokenClaims, tokenClaims, tokenHeader } from "@slipway/protocol/uaa/token";
import type * as v from "valibot";

/** A token as it was sent: what it says is not to be believed before a key has verified it. */
export interface Jwt {
  readonly header: v.InferOutput<typeof tokenHeader>;
  readonly claims: TokenClaims;
  readonly text: string;
}

/** Longest token: those of large installations hold some hundred scopes. */
const LONGEST = 24 << 10;
const FORM = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export function readJwt(text: string): Jwt | undefined {
  if (text.length > LONGEST) return undefined;
  const [, head, body, signature] = FORM.exec(text) ?? [];
  if (head === undefined || body === undefined || signature === undefined) return undefined;
  const header = documentOf(head);
  const claims = documentOf(body);
  if (!matches(tokenHeader, header) || !matches(tokenClaims, claims)) return undefined;
  // What must be understood, and is not.
  if (header.crit !== undefined) return undefined;
  return { header, claims, text };
}

function documentOf(part: string): unknown {
  try {
    return parseStrictJson(Buffer.from(part, "base64url").toString("utf8"), "the token");
  } catch {
    return undefined;
  }
}

/** A key, and the algorithms it may be used with. A token does not choose: a public key never serves as a shared secret. */
export interface VerifyKey {
  /** Undefined: for tokens that name any key, or none. */
  readonly kid?: string | undefined;
  verifies(token: Jwt): Promise<boolean>;
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};
const SHORTEST_RSA = 2048;

/** Undefined for a key of a kind that we do not use, or that is too short. */
export function publicKey(
  key: KeyObject,
  said: { readonly kid?: string | undefined; readonly alg?: string | undefined } = {},
): VerifyKey | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const strong = type !== "rsa" || (details?.modulusLength ?? 0) >= SHORTEST_RSA;
  const able = type === "rsa" ? ["RS256", "RS384", "RS512"] : [CURVES[details?.namedCurve ?? ""] ?? ""];
  const algorithms = said.alg === undefined ? able : able.filter((one) => one === said.alg);
  if ((type !== "rsa" && type !== "ec") || !strong || !algorithms.some((one) => one !== "")) return undefined;
  return { kid: said.kid, verifies: (token) => isSigned(token, key, algorithms) };
}

export const sharedKey = (secret: string): VerifyKey => {
  const key = createSecretKey(Buffer.from(secret));
  return { verifies: (token) => isSigned(token, key, ["HS256", "HS384", "HS512"]) };
};

async function isSigned({ text }: Jwt, key: KeyObject, algorithms: string[]): Promise<boolean> {
  // Loaded when the first token comes: a Director without a UAA never needs it.
  const { compactVerify, errors } = await import("jose");
  try {
    await compactVerify(text, key, { algorithms });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}
