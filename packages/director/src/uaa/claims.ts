import type { TokenClaims } from "@slipway/protocol/uaa/token";
import type { Jwt } from "./jwt.ts";

export interface ClaimRules {
  /** Issuers, one of which has made the token. */
  readonly issuers: readonly string[];
  /** Undefined: `bosh` and what begins with `bosh.`, as UAA makes of the scopes. */
  readonly audience: string | undefined;
}

export type ClaimsVerdict =
  | { readonly ok: true; readonly name: string; readonly scopes: readonly string[] }
  /** Worth a line in the log, unless it is `usual`: every token ends at some time. */
  | { readonly ok: false; readonly why: string; readonly usual?: boolean };

/** Clocks of two machines. Not for the end: who is late gets a new token. */
const LEEWAY_S = 60;

/** Validates the claims of a verified token. */
export function judgeClaims(
  { header, claims }: Pick<Jwt, "header" | "claims">,
  rules: ClaimRules,
  nowMs: number,
): ClaimsVerdict {
  const now = nowMs / 1000;
  const refused = (why: string) => ({ ok: false, why }) as const;
  if (header.typ !== undefined && !["jwt", "at+jwt"].includes(header.typ.toLowerCase()))
    return refused(`it is a token of type ${shown(header.typ)}`);
  if (claims.exp === undefined) return refused("it never expires");
  if (claims.exp <= now) return { ok: false, why: "it has expired", usual: true };
  if (claims.nbf !== undefined && claims.nbf > now + LEEWAY_S) return refused("it is not valid yet");
  if (!claims.jti) return refused("it has no 'jti'");
  if (claims.jti.endsWith("-r")) return refused("it is a refresh token");
  if (claims.iss === undefined || !rules.issuers.includes(claims.iss))
    return refused(`its issuer is ${shown(claims.iss ?? "")}, and not ${rules.issuers.join(" or ")}`);
  const audience = [claims.aud ?? []].flat();
  if (!audience.some((one) => isFor(one, rules.audience)))
    return refused(`its audience is ${shown(audience.join(", "))}, and not ${rules.audience ?? "bosh"}`);
  const name = nameOf(claims);
  if (name === "") return refused("it has neither 'user_name' nor 'client_id'");
  return { ok: true, name, scopes: scopesOf(claims) };
}

const isFor = (one: string, wanted: string | undefined): boolean =>
  wanted === undefined ? one === "bosh" || one.startsWith("bosh.") : one === wanted;

const nameOf = ({ user_name, client_id }: TokenClaims): string =>
  (user_name || client_id || "").slice(0, 255);

const scopesOf = ({ scope = [] }: TokenClaims): readonly string[] =>
  typeof scope === "string" ? scope.split(" ").filter((one) => one !== "") : scope;

/** Quotes text of a token: it is signed, but still foreign. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
