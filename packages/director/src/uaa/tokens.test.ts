import { generateKeyPairSync } from "node:crypto";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { rsaKey, signedToken, type UaaKey, UaaServer } from "@slipway/testkit/uaa-server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTokens, type Tokens } from "./tokens.ts";

const START = Date.UTC(2026, 10, 17);
const clock = fakeClock({ start: START });
const USER = { user: "ada", client: "bosh_cli", scopes: ["openid", "bosh.read", "bosh.teams.shop.admin"] };
const CLIENT = { client: "ci", scopes: ["bosh.admin"] };

let uaa: UaaServer;
let first: UaaKey;
let tokens: Tokens;
let logged: string[];
beforeAll(async () => {
  uaa = await UaaServer.start({ now: () => clock.now() });
  first = uaa.keys[0] as UaaKey;
});
afterAll(() => uaa.close());

const open = async (more: object = {}): Promise<Tokens> => {
  const made = await openTokens(
    { url: uaa.url, ca: uaa.ca, ...more },
    { clock, onError: (error) => logged.push(String(error)) },
  );
  if (made === undefined) throw new Error("no tokens");
  return made;
};
beforeEach(async () => {
  logged = [];
  uaa.broken = false;
  uaa.keys = [first];
  uaa.asked.length = 0;
  tokens = await open();
});
afterEach(() => tokens.close());

const of = (who: typeof USER | typeof CLIENT, more: object = {}) => ({ ...uaa.claims(who), ...more });

describe("a token of UAA's form", () => {
  it("lets its user in, with its scopes", async () => {
    expect(await tokens.judge(uaa.token(of(USER)))).toEqual({ name: "ada", scopes: USER.scopes });
  });

  it("lets in the client of client credentials", async () => {
    expect(await tokens.judge(uaa.token(of(CLIENT)))).toEqual({ name: "ci", scopes: ["bosh.admin"] });
  });

  it("may have its scopes in one text, as OAuth has it", async () => {
    const token = uaa.token(of(CLIENT, { scope: "bosh.read  bosh.admin" }));
    expect(await tokens.judge(token)).toMatchObject({ scopes: ["bosh.read", "bosh.admin"] });
  });

  const now = Math.floor(START / 1000);
  it.each<[string, object, RegExp | undefined]>([
    ["that has expired", { exp: now }, undefined],
    ["that never expires", { exp: undefined }, /never expires/],
    ["that is not valid yet", { nbf: now + 61 }, /not valid yet/],
    ["of another issuer", { iss: "https://evil.example/oauth/token" }, /issuer is "https:\/\/evil/],
    ["without an issuer", { iss: undefined }, /issuer/],
    ["for somebody else", { aud: ["credhub", "boshy"] }, /audience is "credhub, boshy"/],
    ["for nobody", { aud: undefined }, /audience/],
    ["that refreshes others", { jti: "abc-r" }, /refresh token/],
    ["without an id", { jti: undefined }, /jti/],
    ["of nobody", { user_name: undefined, client_id: undefined }, /user_name/],
  ])("%s is refused", async (_, change, line) => {
    expect(await tokens.judge(uaa.token(of(USER, change)))).toBeUndefined();
    if (line === undefined) expect(logged).toEqual([]);
    else expect(logged.join()).toMatch(line);
  });

  it("is good until its last second, and within a minute before its first", async () => {
    expect(await tokens.judge(uaa.token(of(USER, { exp: now + 1, nbf: now + 60 })))).toBeDefined();
  });

  it.each(["", "x", "a.b", "a.b.c", "a.b.c.d", `${"a".repeat(30_000)}.b.c`])(
    "is no token: %.20s",
    async (text) => {
      expect(await tokens.judge(text)).toBeUndefined();
      expect(uaa.asked).toEqual([]);
    },
  );

  it("must be for the configured audience, from the configured issuer", async () => {
    const strict = await open({ issuer: "https://id.example", audience: "director" });
    const good = { iss: "https://id.example", aud: "director" };
    expect(await strict.judge(uaa.token(of(USER, good)))).toBeDefined();
    expect(await strict.judge(uaa.token(of(USER, { ...good, aud: ["bosh"] })))).toBeUndefined();
    expect(
      await strict.judge(uaa.token(of(USER, { ...good, iss: `${uaa.url}/oauth/token` }))),
    ).toBeUndefined();
    strict.close();
  });
});

describe("a signature", () => {
  const headed = (header: object, secret?: string) =>
    signedToken({ kid: "key-1", typ: "JWT", ...header } as never, of(USER), secret ?? first.privateKey);

  it.each([
    ["none", () => headed({ alg: "none" })],
    ["none with a signature", () => `${headed({ alg: "none" })}AAAA`],
    [
      "None",
      () => headed({ alg: "RS256" }).replace(/^[^.]+/, Buffer.from('{"alg":"None"}').toString("base64url")),
    ],
    ["of another key", () => uaa.token(of(USER), { ...rsaKey("key-1") })],
    [
      "by the public key as a secret",
      () => headed({ alg: "HS256" }, String(first.publicKey.export({ format: "pem", type: "spki" }))),
    ],
    ["by an empty secret", () => headed({ alg: "HS256" }, "")],
    ["of another algorithm than the key's", () => headed({ alg: "RS512" })],
    ["with something critical", () => headed({ alg: "RS256", crit: ["exp"], exp: 1 })],
    [
      "of another text",
      () =>
        headed({ alg: "RS256" }).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify(of(CLIENT))).toString("base64url")}.`,
        ),
    ],
    ["of another kind of token", () => headed({ alg: "RS256", typ: "logout+jwt" })],
  ])("%s is refused", async (_, token) => {
    expect(await tokens.judge(headed({ alg: "RS256" }))).toBeDefined();
    expect(await tokens.judge(token())).toBeUndefined();
  });

  it("counts for nothing if made by a short key", async () => {
    uaa.keys = [rsaKey("short", 1024)];
    expect(await tokens.judge(uaa.token(of(USER)))).toBeUndefined();
  });

  it("counts if made by the configured public key, whatever key it names, and nothing is fetched", async () => {
    const pem = String(first.publicKey.export({ format: "pem", type: "spki" }));
    const fixed = await open({ public_key: pem });
    expect(await fixed.judge(uaa.token(of(USER)))).toBeDefined();
    expect(await fixed.judge(headed({ alg: "RS512", kid: "x" }))).toBeDefined();
    expect(await fixed.judge(headed({ alg: "HS256" }, pem))).toBeUndefined();
    expect(uaa.asked).toEqual([]);
    await expect(open({ public_key: "-----BEGIN PUBLIC KEY-----\nx" })).rejects.toMatchObject({
      code: "DIW-002",
    });
  });

  it("counts if made by an elliptic curve", async () => {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const fixed = await open({ public_key: String(pair.publicKey.export({ format: "pem", type: "spki" })) });
    expect(await fixed.judge(signedToken({ alg: "ES256" }, of(USER), pair.privateKey))).toBeDefined();
    expect(await fixed.judge(signedToken({ alg: "ES384" }, of(USER), pair.privateKey))).toBeUndefined();
  });

  it("counts if made by the configured shared secret", async () => {
    const shared = await open({ symmetric_key: "tokensecret" });
    expect(await shared.judge(headed({ alg: "HS256" }, "tokensecret"))).toMatchObject({ name: "ada" });
    expect(await shared.judge(headed({ alg: "HS256" }, "tokensecre"))).toBeUndefined();
    expect(await shared.judge(uaa.token(of(USER)))).toBeUndefined();
  });
});

describe("keys", () => {
  it("are fetched once for many tokens", async () => {
    await Promise.all(Array.from({ length: 20 }, () => tokens.judge(uaa.token(of(USER)))));
    await tokens.judge(uaa.token(of(CLIENT)));
    expect(uaa.asked).toEqual(["GET /token_keys"]);
  });

  it("are noticed by the first token that names a new one", async () => {
    await tokens.judge(uaa.token(of(USER)));
    uaa.keys.push(rsaKey("key-2"));
    await clock.advance(30_000);
    expect(await tokens.judge(uaa.token(of(USER)))).toMatchObject({ name: "ada" });
    expect(uaa.asked).toHaveLength(2);
  });

  it("cause few requests if they are unknown", async () => {
    const odd = rsaKey("key-9");
    for (let i = 0; i < 50; i++) expect(await tokens.judge(uaa.token(of(USER), odd))).toBeUndefined();
    expect(uaa.asked).toHaveLength(1);
    await clock.advance(30_000);
    for (let i = 0; i < 50; i++) expect(await tokens.judge(uaa.token(of(USER), odd))).toBeUndefined();
    expect(uaa.asked).toHaveLength(2);
  });

  it("count no longer than ten minutes after they are withdrawn", async () => {
    const token = () => uaa.token(of(USER), first);
    expect(await tokens.judge(token())).toBeDefined();
    uaa.keys = [rsaKey("key-2")];
    await clock.advance(10 * 60_000 + 1);
    expect(await tokens.judge(token())).toBeUndefined();
  });

  it("count for an hour while the server does not answer, which is then reported", async () => {
    expect(await tokens.judge(uaa.token(of(USER)))).toBeDefined();
    uaa.broken = true;
    await clock.advance(59 * 60_000);
    expect(await tokens.judge(uaa.token(of(USER)))).toBeDefined();
    await clock.advance(2 * 60_000);
    await expect(tokens.judge(uaa.token(of(USER)))).rejects.toMatchObject({ code: "DIW-001" });
    uaa.broken = false;
    await clock.advance(3000);
    expect(await tokens.judge(uaa.token(of(USER)))).toBeDefined();
  });

  it("cannot be fetched from where another certificate is", async () => {
    const other = await open({ ca: undefined });
    await expect(other.judge(uaa.token(of(USER)))).rejects.toMatchObject({ code: "DIW-001" });
    other.close();
  });
});
