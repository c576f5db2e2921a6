import { createHash, timingSafeEqual } from "node:crypto";
import type { Tokens } from "../uaa/tokens.ts";
import { BadUsers } from "./errors.ts";
import type { Guess } from "./failure-limit.ts";
import type { ApiUser } from "./services.ts";

export type Login =
  | { readonly kind: "nobody" }
  | { readonly kind: "wrong" }
  | { readonly kind: "user"; readonly name: string; readonly scopes: readonly string[] };

export type Authenticate = (authorization: string | undefined) => Login;

/** Judges a token, or credentials. Tokens cannot be guessed, and expire all the time: they are not limited. */
export async function identify(
  authorization: string | undefined,
  authenticate: Authenticate,
  tokens: Tokens | undefined,
): Promise<Login> {
  const token = tokens && /^bearer +([\x21-\x7e]+)\s*$/i.exec(authorization ?? "")?.[1];
  if (tokens === undefined || token === undefined) return authenticate(authorization);
  const user = await tokens.judge(token);
  return user === undefined ? { kind: "wrong" } : { kind: "user", ...user };
}

/**
 * Judges Basic credentials. Name and password are compared with those of every user every time, so that the time it
 * takes tells neither who exists nor who came close.
 */
export function authenticator(users: readonly ApiUser[]): Authenticate {
  checkUsers(users);
  const known = users.map((user) => ({ user, name: digest(user.name), password: digest(user.password) }));
  return (authorization) => {
    if (authorization === undefined) return { kind: "nobody" };
    const given = basic(authorization);
    const name = digest(given?.name ?? "");
    const password = digest(given?.password ?? "");
    let found: ApiUser | undefined;
    for (const one of known) {
      const sameName = timingSafeEqual(one.name, name);
      const samePassword = timingSafeEqual(one.password, password);
      if (sameName && samePassword) found = one.user;
    }
    if (found === undefined || found.password === "") return { kind: "wrong" };
    return { kind: "user", name: found.name, scopes: found.scopes ?? ["bosh.admin"] };
  };
}

/** The credentials of a header, for the limit of failures. Digests, so that names of any length take the same room. */
export function guessOf(authorization: string | undefined): Guess | undefined {
  const given = authorization === undefined ? undefined : basic(authorization);
  if (given === undefined) return undefined;
  const name = digest(given.name).toString("base64");
  return { name, pair: digest(`${name} ${given.password}`).toString("base64", 0, 12) };
}

function checkUsers(users: readonly ApiUser[]): void {
  if (users.length === 0) throw BadUsers({ why: "there are none" });
  const names = new Set<string>();
  for (const { name } of users) {
    if (name === "") throw BadUsers({ why: "a name is empty" });
    if (name.includes(":")) throw BadUsers({ why: "a name has a colon" });
    if (names.has(name)) throw BadUsers({ why: `the name ${name} stands there twice` });
    names.add(name);
  }
}

function basic(authorization: string): { readonly name: string; readonly password: string } | undefined {
  const encoded = /^basic +([\w+/=-]+)\s*$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? undefined : { name: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
