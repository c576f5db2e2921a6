import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { UaaServer } from "@slipway/testkit/uaa-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AllProxy } from "../proxy/all-proxy.ts";
import { FakeDirector, INFO } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";
import { authenticate } from "./authenticate.ts";
import { readLogins, withLogin, writeLogins } from "./logins.ts";

const SECRET = "CANARY-client-secret";
const PASSWORD = "CANARY-password";
const NEVER = new AbortController().signal;

let uaa: UaaServer;
let director: FakeDirector;
let home: string;
let remove: () => Promise<void>;
/** Tokens that the Director takes. */
let accepted: (token: string) => boolean;
beforeEach(async () => {
  ({ path: home, remove } = await temporaryDirectory());
  uaa = await UaaServer.start({
    users: { ada: { secret: PASSWORD, scopes: ["bosh.admin"] } },
    clients: { ci: { secret: SECRET, scopes: ["bosh.admin"] } },
  });
  director = await FakeDirector.start();
  accepted = () => true;
  const known = (header: string | undefined) => header?.startsWith("bearer ") === true && accepted(header);
  director
    .on("GET /info", ({ headers }) => ({
      body: JSON.stringify({
        ...INFO,
        user: known(headers.authorization) ? "somebody" : null,
        user_authentication: { type: "uaa", options: { url: uaa.url, urls: [uaa.url] } },
      }),
    }))
    .on("GET /stemcells", ({ headers }) => (known(headers.authorization) ? { body: "[]" } : { status: 401 }));
});
afterEach(async () => {
  await director.close();
  await uaa.close();
  await remove();
});

const ca = async () => {
  const path = join(home, "ca.pem");
  await writeFile(path, `${director.ca}\n${uaa.ca}`);
  return path;
};
const run = async (...argv: string[]) =>
  runCli(argv, { home, env: { BOSH_ENVIRONMENT: director.url, BOSH_CA_CERT: await ca() } });
const loginFile = () => join(home, "logins.json");
const sentToDirector = () => director.seen.map(({ headers }) => headers.authorization ?? "").join("\n");

/** Logs in as a user who types these answers. */
async function logIn(answers: string[]) {
  const asked: string[] = [];
  const ui = {
    ask: async (question: string, { hidden = false } = {}) => {
      asked.push(hidden ? `${question} (hidden)` : question);
      return answers.shift() ?? "";
    },
    note: (text: string) => void asked.push(text),
  };
  const session = {
    url: director.url,
    ca: await readFile(await ca(), "utf8"),
    user: undefined,
    password: undefined,
  };
  const proxy = new AllProxy({ env: {}, clock: systemClock, random: systemRandom });
  const tools = { ui, clock: systemClock, stop: NEVER, home: { loginFile: loginFile() }, proxy };
  const found = await authenticate(session, { client: undefined, clientSecret: undefined }, tools as never);
  await writeLogins(
    loginFile(),
    withLogin(await readLogins(loginFile()), { url: director.url, ca_cert: session.ca, ...found }, true),
  );
  return { found, asked };
}

describe("a client of the Director's UAA", () => {
  it("gets a token with its secret, which the Director never sees", async () => {
    expect(await run("stemcells", "--client", "ci", "--client-secret", SECRET)).toMatchObject({ code: 0 });
    expect(uaa.asked).toEqual(["POST /oauth/token client_credentials"]);
    expect(sentToDirector()).not.toContain("Basic");
    expect(director.seen[0]?.headers.authorization).toBeUndefined();
  });

  it("gets an error without its secret if it is refused", async () => {
    const { code, err, out } = await run("stemcells", "--client", "ci", "--client-secret", "CANARY-wrong");
    expect(code).toBe(1);
    expect(err).toContain("gives 'ci' no token");
    expect(out + err).not.toContain("CANARY");
  });

  it("gets another token when the first is not taken any more", async () => {
    let first: string | undefined;
    accepted = (token) => {
      first ??= token;
      return token !== first;
    };
    expect(await run("stemcells", "--client", "ci", "--client-secret", SECRET)).toMatchObject({ code: 0 });
    expect(uaa.asked).toHaveLength(2);
  });

  it("may be remembered by log-in", async () => {
    expect(await run("log-in", "--client", "ci", "--client-secret", SECRET)).toMatchObject({ code: 0 });
    expect(await run("stemcells")).toMatchObject({ code: 0 });
    expect(sentToDirector()).not.toContain("Basic");
    expect((await stat(loginFile())).mode & 0o777).toBe(0o600);
  });
});

describe("a user who logs in", () => {
  it("is asked what the UAA asks for, and tokens are remembered, not the password", async () => {
    const { found, asked } = await logIn(["ada", PASSWORD]);
    expect(asked).toEqual(["Email", "Password (hidden)"]);
    expect(found).toMatchObject({ user: "ada", uaa_url: uaa.url });
    expect(uaa.asked).toEqual(["GET /login", "POST /oauth/token password"]);
    expect(await readFile(loginFile(), "utf8")).not.toContain(PASSWORD);
    expect((await stat(loginFile())).mode & 0o777).toBe(0o600);
    expect(sentToDirector()).toBe("");
  });

  it("is asked again when the password was wrong, three times at most", async () => {
    expect((await logIn(["ada", "wrong", "ada", PASSWORD])).found).toMatchObject({ user: "ada" });
    await expect(logIn(["ada", "a", "ada", "b", "ada", "c"])).rejects.toMatchObject({ code: "CLI-018" });
  });

  it("keeps the access token until it is not taken, then gets and remembers new ones", async () => {
    await logIn(["ada", PASSWORD]);
    expect(await run("stemcells")).toMatchObject({ code: 0 });
    expect(uaa.asked).not.toContain("POST /oauth/token refresh_token");
    const [old] = (await readLogins(loginFile())).environments;
    accepted = (token) => token !== old?.access_token;
    expect(await run("stemcells")).toMatchObject({ code: 0 });
    expect(uaa.asked.at(-1)).toBe("POST /oauth/token refresh_token");
    const [now] = (await readLogins(loginFile())).environments;
    expect(now).toMatchObject({ user: "ada", uaa_url: uaa.url });
    expect(now?.access_token).not.toBe(old?.access_token);
    expect(now?.refresh_token).not.toBe(old?.refresh_token);
    uaa.asked.length = 0;
    expect(await run("stemcells")).toMatchObject({ code: 0 });
    expect(uaa.asked).toEqual([]);
  });

  it("is forgotten after log-out, tokens and all", async () => {
    await logIn(["ada", PASSWORD]);
    expect(await run("log-out")).toMatchObject({ code: 0 });
    expect(await readFile(loginFile(), "utf8")).not.toMatch(/token|uaa|ada/);
    const { code, err } = await run("stemcells");
    expect(code).toBe(1);
    expect(err).toContain("wants a token of its UAA");
  });

  it("gets an error if the UAA fails", async () => {
    uaa.broken = true;
    await expect(logIn(["ada", PASSWORD])).rejects.toMatchObject({ code: "CLI-019" });
  });
});
