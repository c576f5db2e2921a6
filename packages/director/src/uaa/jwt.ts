import { createHmac, type KeyObject, timingSafeEqual, verify } from "node:crypto";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { matches } from "@slipway/protocol/schema/check";
import { type TokenClaims, tokenClaims, tokenHeader } from "@slipway/protocol/uaa/token";
import type * as v from "valibot";

/** A token as it was sent: what it says is not to be believed before a key has verified it. */
export interface Jwt {
  readonly header: v.InferOutput<typeof tokenHeader>;
  readonly claims: TokenClaims;
  readonly signed: string;
  readonly signature: Buffer;
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
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, "base64url") };
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
  verifies(token: Jwt): boolean;
}

const HASHES: Readonly<Record<string, string>> = { "256": "sha256", "384": "sha384", "512": "sha512" };
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
  return {
    kid: said.kid,
    verifies: ({ header: { alg }, signed, signature }) =>
      algorithms.includes(alg) &&
      verify(HASHES[alg.slice(2)], Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }, signature),
  };
}

export const sharedKey = (secret: string): VerifyKey => ({
  verifies: ({ header: { alg }, signed, signature }) => {
    if (!["HS256", "HS384", "HS512"].includes(alg)) return false;
    const expected = createHmac(HASHES[alg.slice(2)] ?? "", secret)
      .update(signed)
      .digest();
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  },
});
