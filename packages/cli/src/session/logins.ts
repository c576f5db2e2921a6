import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import { BadLogins } from "./errors.ts";

const filled = v.pipe(v.string(), v.minLength(1));

const remembered = v.strictObject({
  url: filled,
  alias: v.optional(filled),
  /** PEM text. */
  ca_cert: v.optional(filled),
  user: v.optional(filled),
  password: v.optional(filled),
  /** Set after a log-in through the Director's UAA; the access token includes its type, as it is sent. */
  uaa_url: v.optional(filled),
  access_token: v.optional(filled),
  refresh_token: v.optional(filled),
});

const loginsFile = v.strictObject({
  version: v.literal(1),
  environments: v.array(remembered),
  /** Environment of commands that name none: the last log-in. */
  current: v.optional(filled),
});

export type RememberedLogin = v.InferOutput<typeof remembered>;
export type Logins = Readonly<v.InferOutput<typeof loginsFile>>;

const NONE: Logins = { version: 1, environments: [] };

export async function readLogins(path: string): Promise<Logins> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return NONE;
    throw BadLogins({ path, why: messageTrail(cause) });
  }
  let document: unknown;
  try {
    document = parseStrictJson(text, path);
  } catch (cause) {
    throw BadLogins({ path, why: messageTrail(cause) });
  }
  const checked = check(loginsFile, document, "logins");
  if (!checked.ok) throw BadLogins({ path, why: checked.problems.join("; ") });
  return checked.value;
}

/** Writes the file readable by its owner only: it holds passwords and tokens. */
export async function writeLogins(path: string, logins: Logins): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o711 });
  await writeFileAtomic(path, `${JSON.stringify(logins, null, 2)}\n`, 0o600);
}

/** Finds an environment by alias or by URL. */
export const findLogin = (logins: Logins, name: string): RememberedLogin | undefined =>
  logins.environments.find(({ alias, url }) => alias === name || url === name);

/** Merges a log-in into the one remembered for the same URL, field by field. */
export function withLogin(logins: Logins, login: RememberedLogin, current: boolean): Logins {
  const before = logins.environments.find(({ url }) => url === login.url);
  const others = logins.environments
    .filter(({ url }) => url !== login.url)
    // An alias means one environment.
    .map((one) => (one.alias !== undefined && one.alias === login.alias ? nameless(one) : one));
  return {
    ...logins,
    environments: [...others, { ...before, ...login }],
    ...(current && { current: login.url }),
  };
}

function nameless({ alias: _, ...rest }: RememberedLogin): RememberedLogin {
  return rest;
}

/** Forgets the alias; URL, authority and log-in stay. */
export const withoutAlias = (logins: Logins, alias: string): Logins => ({
  ...logins,
  environments: logins.environments.map((one) => (one.alias === alias ? nameless(one) : one)),
});

export function withoutCredentials(login: RememberedLogin): RememberedLogin {
  const { user: _, password: __, uaa_url: ___, access_token: ____, refresh_token: _____, ...rest } = login;
  return rest;
}

/** Name, password and tokens are forgotten; the alias and the authority stay. */
export function withoutLogin({ current, ...logins }: Logins, url: string): Logins {
  return {
    ...logins,
    environments: logins.environments.map((one) => {
      if (one.url !== url) return one;
      return withoutCredentials(one);
    }),
    ...(current !== undefined && current !== url && { current }),
  };
}
