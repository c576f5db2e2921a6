import type { TokenSource } from "../api/token-source.ts";
import { CLI_CLIENT, type TokenPair, type UaaClient, type UaaClientName } from "./uaa-client.ts";

export interface SavedTokens {
  readonly access: string;
  readonly refresh: string;
}

const headerOf = ({ token_type, access_token }: TokenPair): string =>
  `${token_type || "bearer"} ${access_token}`;

/** Returns tokens of a client with a secret, which gets one whenever it is needed. */
export function clientTokens(uaa: UaaClient, client: UaaClientName): TokenSource {
  let header: string | undefined;
  return {
    header: async (fresh) => {
      if (fresh || header === undefined)
        header = headerOf(await uaa.grant(client, { grant_type: "client_credentials" }));
      return header;
    },
    close: () => uaa.close(),
  };
}

/** Returns tokens of a user who has logged in. Saves new ones before their use: the old refresh token may be spent. */
export function userTokens(
  uaa: UaaClient,
  saved: SavedTokens,
  remember: (tokens: SavedTokens) => Promise<void>,
): TokenSource {
  let { access, refresh } = saved;
  return {
    header: async (fresh) => {
      if (fresh) {
        const got = await uaa.grant(CLI_CLIENT, { grant_type: "refresh_token", refresh_token: refresh });
        access = headerOf(got);
        refresh = got.refresh_token ?? refresh;
        await remember({ access, refresh });
      }
      return access;
    },
    close: () => uaa.close(),
  };
}
