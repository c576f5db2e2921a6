import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import type { Home } from "../home/home.ts";
import type { Globals } from "../parse/globals.ts";
import { BadCaCert, BadEnvFile, BadEnvironment, NoEnvironment } from "./errors.ts";
import { findLogin, type Logins, type RememberedLogin, readLogins } from "./logins.ts";
import type { SavedTokens } from "./uaa-tokens.ts";

/** A Director and the credentials for it. */
export interface Session {
  readonly url: string;
  /** PEM text; without it the system's authorities count. */
  readonly ca: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Set after a log-in through the Director's UAA. Without tokens, the user is a client of the UAA. */
  readonly uaa?: { readonly url: string; readonly tokens: SavedTokens | undefined };
  /** Only the Director knows whether they are a user of its own or a client of its UAA. */
  readonly unsure?: boolean;
  /** True for the Director of `slipway up` on this machine, which is reached without a proxy. */
  readonly here?: true;
  /** The Director of this machine, where it runs and the last log-in, to another one, went before it. */
  readonly passedOver?: string;
}

export type ConnectionOptions = Pick<Globals, "environment" | "caCert" | "client" | "clientSecret">;

/**
 * Options and BOSH_ variables, then what `log-in` and `alias-env` have remembered, then the Director that `slipway up`
 * has written down. Credentials remembered for one Director are never sent to another.
 */
export async function findSession(
  asked: ConnectionOptions,
  home: Pick<Home, "loginFile" | "envFile" | "runFile">,
): Promise<Session> {
  const logins = await readLogins(home.loginFile);
  const local = await readEnvFile(home.envFile);
  const url = urlOf(asked.environment, logins, local);
  const login = findLogin(logins, url);
  const own = local?.BOSH_ENVIRONMENT === undefined ? undefined : directorUrl(local.BOSH_ENVIRONMENT);
  const here = own === url ? (local ?? {}) : {};
  const ca = asked.caCert ?? login?.ca_cert ?? here.BOSH_CA_CERT;
  const doubtful = asked.environment === undefined && own !== undefined && own !== url;
  return {
    url,
    ca: ca === undefined ? undefined : await pemOf(ca),
    ...credentials(asked, login, here),
    ...(own === url && isLoopback(url) && { here: true as const }),
    ...(doubtful && existsSync(home.runFile) && { passedOver: own }),
  };
}

const isLoopback = (url: string): boolean => /^https:\/\/(localhost|127\.|\[::1\])/.test(url);

function urlOf(
  environment: string | undefined,
  logins: Logins,
  local: Readonly<Record<string, string>> | undefined,
): string {
  if (environment !== undefined) {
    const known = findLogin(logins, environment);
    if (known !== undefined) return known.url;
    // A word without a dot, colon or slash was meant as an alias; hosts of one word are given with their port.
    if (/^[\w-]+$/.test(environment) && environment !== "localhost")
      throw BadEnvironment({ given: environment, why: "no environment is remembered under that name" });
    return directorUrl(environment);
  }
  if (logins.current !== undefined) return logins.current;
  if (local?.BOSH_ENVIRONMENT !== undefined) return directorUrl(local.BOSH_ENVIRONMENT);
  throw NoEnvironment({});
}

/** Takes name and password from the same source: a name from one and a password from another do not match. */
function credentials(
  asked: ConnectionOptions,
  login: RememberedLogin | undefined,
  local: Readonly<Record<string, string>>,
): Pick<Session, "user" | "password" | "uaa" | "unsure"> {
  if (asked.client !== undefined) {
    const own = asked.client === local.BOSH_CLIENT && asked.clientSecret === local.BOSH_CLIENT_SECRET;
    return { user: asked.client, password: asked.clientSecret, ...(!own && { unsure: true }) };
  }
  if (login?.user !== undefined) {
    const { user, password, uaa_url: url, access_token: access, refresh_token: refresh } = login;
    const tokens = access === undefined || refresh === undefined ? undefined : { access, refresh };
    return { user, password, ...(url !== undefined && { uaa: { url, tokens } }) };
  }
  return { user: local.BOSH_CLIENT, password: local.BOSH_CLIENT_SECRET };
}

/** A path, or the text itself. */
export async function pemOf(given: string): Promise<string> {
  if (given.includes("-----BEGIN")) return given;
  let text: string;
  try {
    text = await readFile(given, "utf8");
  } catch (cause) {
    throw BadCaCert({ given }, { cause });
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw BadCaCert({ given: `${given} holds no PEM certificate` });
  return text;
}

const PORT = 25555;

/** Returns the Director's URL. As upstream: always TLS, port 25555 by default, any path dropped. */
export function directorUrl(given: string): string {
  const scheme = /^([a-z][\w+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "https")
    throw BadEnvironment({ given, why: "a Director is reached over https" });
  let url: URL;
  try {
    url = new URL(scheme === undefined ? `https://${given}` : given);
  } catch (cause) {
    throw BadEnvironment({ given, why: "it cannot be read as a URL" }, { cause });
  }
  // The port of https itself is dropped by URL.
  const port = url.port || (/:443(\/|$)/.test(given) ? "443" : String(PORT));
  return `https://${url.hostname}:${port}`;
}

/** Reads the file that `slipway up` writes about its Director: shell lines, of which only plain assignments count. */
export async function readEnvFile(path: string): Promise<Readonly<Record<string, string>> | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw BadEnvFile({ path, why: messageTrail(cause) });
  }
  const found: [string, string][] = [];
  for (const line of text.split("\n")) {
    const [, name, word = ""] = /^(?:export\s+)?([A-Z_][A-Z0-9_]*)=(.*)$/.exec(line.trim()) ?? [];
    if (name !== undefined) found.push([name, await wordValue(word, path)]);
  }
  return Object.fromEntries(found);
}

async function wordValue(word: string, path: string): Promise<string> {
  const bare = /^"(.*)"$/.exec(word)?.[1] ?? word;
  const file = /^\$\((?:cat |<)(.+)\)$/.exec(bare)?.[1];
  if (file === undefined) return unquoted(word);
  try {
    return (await readFile(unquoted(file.trim()), "utf8")).trimEnd();
  } catch (cause) {
    throw BadEnvFile({ path, why: messageTrail(cause) });
  }
}

/** `'it'\''s'`, `"it"`, or the word itself. */
function unquoted(word: string): string {
  if (/^'.*'$/.test(word)) return word.slice(1, -1).replaceAll("'\\''", "'");
  return /^"(.*)"$/.exec(word)?.[1]?.replace(/\\(["\\$`])/g, "$1") ?? word;
}
