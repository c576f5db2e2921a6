import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { basicAuth, HttpClient } from "@slipway/kernel/http/client";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { rsaKey } from "@slipway/testkit/uaa-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openTokens, type Tokens } from "./tokens.ts";

interface Provider {
  proxy: boolean;
  callback(): Parameters<typeof createServer>[1];
}
type MakeProvider = new (issuer: string, configuration: object) => Provider;

const CLIENT = { id: "ci", secret: "ci-secret-of-the-test" };

/** Configures a provider whose tokens are JSON Web Tokens for `bosh`, made for any client. */
const configuration = (key: object) => ({
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  jwks: { keys: [key] },
  scopes: ["bosh.read", "bosh.admin"],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "urn:bosh",
      getResourceServerInfo: () => ({
        scope: "bosh.read bosh.admin",
        audience: "bosh",
        accessTokenFormat: "jwt",
        accessTokenTTL: 120,
      }),
    },
  },
});

/** Tests with a provider that is neither our server nor UAA: any that signs by the standard is understood. */
describe("an OpenID Connect provider", () => {
  let server: Server;
  let url: string;
  let provider: Provider;
  let Make: MakeProvider;
  let tokens: Tokens;
  const jwk = (kid: string) => ({
    ...rsaKey(kid).privateKey.export({ format: "jwk" }),
    kid,
    use: "sig",
    alg: "RS256",
  });

  beforeAll(async () => {
    // It has much to say of how it should be run in earnest.
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "info").mockReturnValue();
    // @ts-expect-error: it has no types
    const library: unknown = await import("oidc-provider");
    Make = (library as { default: MakeProvider }).default;
    server = createServer({ cert: TEST_CERT, key: TEST_KEY }, (request, response) =>
      provider.callback()?.(request, response),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    provider = new Make(url, configuration(jwk("first")));
    tokens = await open({});
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    tokens.close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  const open = async (more: object): Promise<Tokens> => {
    const config = { url, ca: TEST_CERT, issuer: url, keys_url: `${url}/jwks`, ...more };
    const made = await openTokens(config, { clock: systemClock, onError: () => undefined });
    if (made === undefined) throw new Error("no tokens");
    return made;
  };

  async function token(scope: string): Promise<string> {
    const http = new HttpClient({ origin: url, clock: systemClock, tls: { ca: TEST_CERT } });
    const reply = await http.request({
      method: "POST",
      path: "/token",
      headers: {
        authorization: basicAuth(CLIENT.id, CLIENT.secret),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: `grant_type=client_credentials&scope=${scope}`,
      withinMs: 30_000,
    });
    const text = await reply.text();
    http.close();
    expect(reply.status, text).toBe(200);
    return (JSON.parse(text) as { access_token: string }).access_token;
  }

  it("lets clients in with the scopes they asked for", async () => {
    expect(await tokens.judge(await token("bosh.read"))).toEqual({ name: "ci", scopes: ["bosh.read"] });
  });

  it("is refused if it has another name, or its tokens are for another audience", async () => {
    const given = await token("bosh.admin");
    const named = await open({ issuer: `${url}/oauth/token` });
    const others = await open({ audience: "credhub" });
    expect(await named.judge(given)).toBeUndefined();
    expect(await others.judge(given)).toBeUndefined();
    named.close();
    others.close();
  });

  it("is trusted by its new key after a change, and its old tokens are not", async () => {
    const before = await token("bosh.admin");
    provider = new Make(url, configuration(jwk("second")));
    const fresh = await open({});
    expect(await fresh.judge(await token("bosh.admin"))).toMatchObject({ name: "ci" });
    expect(await fresh.judge(before)).toBeUndefined();
    fresh.close();
  });
});
