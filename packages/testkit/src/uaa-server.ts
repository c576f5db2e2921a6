import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TEST_CERT, TEST_KEY } from "./tls-fixture.ts";

export interface UaaKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const rsaKey = (kid: string, bits = 2048): UaaKey => ({
  kid,
  ...generateKeyPairSync("rsa", { modulusLength: bits }),
});

const part = (document: object) => Buffer.from(JSON.stringify(document)).toString("base64url");

/** A JSON Web Token, signed as its header says, or not at all. */
export function signedToken(header: { alg: string }, claims: object, key: KeyObject | string): string {
  const text = `${part(header)}.${part(claims)}`;
  if (header.alg === "none") return `${text}.`;
  const hash = `sha${header.alg.slice(2)}`;
  const signature =
    typeof key === "string"
      ? createHmac(hash, key).update(text).digest()
      : sign(hash, Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

export interface UaaMember {
  readonly secret: string;
  readonly scopes: readonly string[];
}

export interface UaaServerOptions {
  readonly users?: Readonly<Record<string, UaaMember>>;
  readonly clients?: Readonly<Record<string, UaaMember>>;
  readonly now?: () => number;
}

/** Does what upstream's UAA does for a Director and its CLI: keys, prompts, and tokens of its form. */
export class UaaServer {
  /** `GET /token_keys`, `POST /oauth/token password`, in their order. */
  readonly asked: string[] = [];
  keys: UaaKey[];
  /** Answers nothing but errors. */
  broken = false;
  /** How long access tokens last that it gives from now on. */
  lastsS = 120;
  readonly #server;
  readonly #options: UaaServerOptions;
  #count = 0;

  private constructor(options: UaaServerOptions) {
    this.#options = options;
    this.keys = [rsaKey("key-1")];
    this.#server = createServer({ cert: TEST_CERT, key: TEST_KEY }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(options: UaaServerOptions = {}): Promise<UaaServer> {
    const made = new UaaServer(options);
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get ca(): string {
    return TEST_CERT;
  }

  /** New tokens are signed with the last key. */
  token(claims: object, key = this.keys.at(-1) as UaaKey): string {
    return signedToken(
      { alg: "RS256", kid: key.kid, typ: "JWT", jku: `${this.url}/token_keys` } as never,
      claims,
      key.privateKey,
    );
  }

  /** Returns claims as UAA fills them. */
  claims(who: { readonly user?: string; readonly client: string; readonly scopes: readonly string[] }) {
    const now = Math.floor((this.#options.now?.() ?? Date.now()) / 1000);
    this.#count += 1;
    const audience = who.scopes.map((scope) => scope.slice(0, scope.lastIndexOf(".")) || scope);
    return {
      jti: `token${this.#count}`,
      sub: who.user ?? who.client,
      ...(who.user === undefined
        ? { authorities: who.scopes }
        : { user_id: who.user, user_name: who.user, email: `${who.user}@example.com`, origin: "uaa" }),
      scope: who.scopes,
      client_id: who.client,
      cid: who.client,
      azp: who.client,
      grant_type: who.user === undefined ? "client_credentials" : "password",
      iat: now,
      exp: now + this.lastsS,
      iss: `${this.url}/oauth/token`,
      zid: "uaa",
      aud: [...new Set([...audience, who.client])],
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const form = new URLSearchParams(Buffer.concat(pieces).toString());
    const what = `${request.method} ${request.url}`;
    this.asked.push(form.has("grant_type") ? `${what} ${form.get("grant_type")}` : what);
    const tell = (status: number, document: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
    if (this.broken) return void tell(500, {});
    if (what === "GET /token_keys") return void tell(200, { keys: this.keys.map(published) });
    if (what === "GET /login") {
      const prompts = { password: ["password", "Password"], username: ["text", "Email"] };
      return void tell(200, { app: { version: "77.0.0" }, prompts });
    }
    if (what !== "POST /oauth/token") return void tell(404, {});
    const granted = this.#grant(request.headers.authorization ?? "", form);
    tell(granted === undefined ? 401 : 200, granted ?? { error: "unauthorized" });
  }

  #grant(authorization: string, form: URLSearchParams) {
    const pair = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString();
    const client = pair.slice(0, pair.indexOf(":"));
    const secret = pair.slice(pair.indexOf(":") + 1);
    const known = { bosh_cli: { secret: "", scopes: [] }, ...this.#options.clients }[client];
    if (known === undefined || known.secret !== secret) return undefined;
    const type = form.get("grant_type");
    if (type === "client_credentials") return this.#tokens({ client, scopes: known.scopes }, false);
    const user = type === "password" ? form.get("username") : refreshedUser(form.get("refresh_token") ?? "");
    const member = this.#options.users?.[user ?? ""];
    if (user === null || member === undefined) return undefined;
    if (type === "password" && form.get("password") !== member.secret) return undefined;
    return this.#tokens({ user, client, scopes: member.scopes }, true);
  }

  #tokens(who: Parameters<UaaServer["claims"]>[0], refresh: boolean) {
    const claims = this.claims(who);
    const tokens = {
      token_type: "bearer",
      access_token: this.token(claims),
      expires_in: 119,
      scope: who.scopes.join(" "),
    };
    if (!refresh) return tokens;
    const later = { ...claims, jti: `${claims.jti}-r`, exp: claims.exp + 86_400 };
    return { ...tokens, refresh_token: this.token(later) };
  }
}

function refreshedUser(token: string): string | null {
  const body = token.split(".")[1];
  if (body === undefined) return null;
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, string>;
  return claims.jti?.endsWith("-r") === true ? (claims.user_name ?? null) : null;
}

const published = ({ kid, publicKey }: UaaKey) => ({
  ...publicKey.export({ format: "jwk" }),
  kid,
  use: "sig",
  alg: "RS256",
  value: publicKey.export({ format: "pem", type: "spki" }),
});
