import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";

/**
 * Contents of tokens of UAA, and of other servers that sign JSON Web Tokens. Nothing in them is trusted without a
 * valid signature.
 */

const seconds = v.pipe(v.number(), v.minValue(0));

export const tokenHeader = open({
  alg: text("alg"),
  kid: v.optional(v.string()),
  typ: v.optional(v.string()),
  crit: v.optional(v.unknown()),
});

export const tokenClaims = open({
  iss: v.optional(v.string()),
  aud: v.optional(v.union([v.string(), v.array(v.string())])),
  exp: v.optional(seconds),
  nbf: v.optional(seconds),
  jti: v.optional(doc(v.string(), "of a refresh token it ends in `-r`")),
  scope: v.optional(doc(v.union([v.string(), v.array(v.string())]), "UAA has a list, OAuth one text")),
  user_name: v.optional(v.string()),
  client_id: v.optional(v.string()),
});
export type TokenClaims = v.InferOutput<typeof tokenClaims>;

const key = open({
  kty: v.string(),
  kid: v.optional(v.string()),
  use: v.optional(v.string()),
  alg: v.optional(v.string()),
});

/** `GET /token_keys` of UAA, and the key sets of others. */
export const tokenKeys = open({ keys: v.pipe(v.array(key), v.maxLength(64)) });

const bearer = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/));

/** `POST /oauth/token`. */
export const tokenReply = open({
  token_type: v.nullish(v.string()),
  access_token: secret(bearer),
  refresh_token: v.nullish(secret(bearer)),
  expires_in: v.nullish(v.number()),
});

/** `GET /login` as JSON: what people are asked for. */
export const loginInfo = open({
  prompts: v.record(v.string(), v.pipe(v.array(v.string()), v.minLength(2))),
});
