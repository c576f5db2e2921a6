import { info } from "@slipway/protocol/director/info";
import { type ApiClientOptions, Client } from "../api/client.ts";
import { SILENT } from "../api/follow.ts";
import type { TokenSource } from "../api/token-source.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { readLogins, withLogin, writeLogins } from "./logins.ts";
import type { Session } from "./session.ts";
import { UaaClient } from "./uaa-client.ts";
import { clientTokens, userTokens } from "./uaa-tokens.ts";

type Parts = Pick<ApiClientOptions, "clock" | "stop" | "teller"> & Pick<Tools, "proxy">;

/** A way to the Director, by password or by the tokens of its UAA. */
export function openClient(session: Session, parts: Parts, home: Pick<Home, "loginFile">): Client {
  const { url, ca, user, password } = session;
  const tokens = () => tokensOf(session, parts, home);
  return new Client({ url, ca, user, password, tokens, ...parts, wire: wireTo(session, parts) });
}

/** Returns the transport of requests to that Director and its UAA. */
export const wireTo = ({ here }: Pick<Session, "here">, { proxy }: Pick<Tools, "proxy">) =>
  here === true ? undefined : proxy.wire();

async function tokensOf(
  session: Session,
  parts: Parts,
  home: Pick<Home, "loginFile">,
): Promise<TokenSource | undefined> {
  const { url, ca, user, password = "", uaa, unsure } = session;
  const { clock, stop } = parts;
  const at = uaa?.url ?? (unsure === true ? await uaaOf(session, parts) : undefined);
  if (at === undefined || user === undefined) return undefined;
  const client = new UaaClient({ url: at, ca, clock, stop, wire: wireTo(session, parts) });
  if (uaa?.tokens === undefined) return clientTokens(client, { id: user, secret: password });
  return userTokens(client, uaa.tokens, async ({ access, refresh }) => {
    const login = { url, access_token: access, refresh_token: refresh };
    await writeLogins(home.loginFile, withLogin(await readLogins(home.loginFile), login, false));
  });
}

/** Returns the URL of the Director's UAA; undefined if it uses passwords. Asks without credentials. */
export async function uaaOf(session: Pick<Session, "url" | "ca" | "here">, parts: Omit<Parts, "teller">) {
  const { url, ca } = session;
  const nobody = { user: undefined, password: undefined };
  const client = new Client({ url, ca, ...nobody, ...parts, teller: SILENT, wire: wireTo(session, parts) });
  try {
    const { user_authentication: by } = await client.json({ method: "GET", path: "/info" }, info);
    const at = by?.type === "uaa" ? by.options?.url : undefined;
    return typeof at === "string" ? at : undefined;
  } finally {
    client.close();
  }
}
