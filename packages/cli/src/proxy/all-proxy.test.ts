import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { proxyServer } from "@slipway/testkit/proxy-server";
import { type SocksOptions, socksServer } from "@slipway/testkit/socks-server";
import { UaaServer } from "@slipway/testkit/uaa-server";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { FakeDirector } from "../testing/fake-director.ts";
import { runCli } from "../testing/run-cli.ts";
import { envText } from "../up/env-file.ts";

const NAME = "director.inside";
const INFO = { name: "far", uuid: "u", version: "1", user: "admin", cpi: "c" };

let director: FakeDirector;
beforeEach(async () => {
  director = await FakeDirector.start([NAME, "127.0.0.1"]);
  director.json("GET /info", INFO);
});
afterEach(() => director.close());

async function proxy(options: SocksOptions = {}) {
  const made = await socksServer({ names: { [NAME]: director.port }, ...options });
  onTestFinished(() => made.close());
  return made;
}

async function slipway(env: Readonly<Record<string, string>>, ...command: readonly string[]) {
  const ca = director.file("ca.pem");
  await writeFile(ca, director.ca);
  const login = { BOSH_ENVIRONMENT: `https://${NAME}:25555`, BOSH_CA_CERT: ca };
  const known = { ...login, BOSH_CLIENT: "admin", BOSH_CLIENT_SECRET: "pw" };
  return await runCli(command.length === 0 ? ["env"] : command, {
    env: { ...known, ...env },
    home: join(director.dir, "home"),
  });
}

describe("a Director behind a proxy", () => {
  it("is asked over TLS by the name that the proxy alone knows", async () => {
    const { url, seen } = await proxy();
    const { code, out, err } = await slipway({ BOSH_ALL_PROXY: url });
    expect(`${err}${code}`).toBe("0");
    expect(out).toContain("far");
    expect(seen).toContain(`${NAME}:25555`);
  });

  it("is asked with the proxy's name and password", async () => {
    const { port } = await proxy({ password: "s3c:ret" });
    const right = { BOSH_ALL_PROXY: `socks5://u:s3c%3Aret@127.0.0.1:${port}` };
    expect((await slipway(right)).code).toBe(0);
  });

  it("reports a proxy that refuses the password once, with advice and without the password", async () => {
    const { port, seen } = await proxy({ password: "s3cret" });
    const { code, out, err } = await slipway({ BOSH_ALL_PROXY: `socks5://u:CANARY@127.0.0.1:${port}` });
    expect(code).toBe(1);
    expect(err).toContain("BOSH_ALL_PROXY");
    expect(err).toContain(`the proxy 127.0.0.1:${port} does not accept the name and the password`);
    expect(`${out}${err}`).not.toContain("CANARY");
    expect(seen).toEqual([]);
  });

  it("reports an unreachable proxy as such, not as a failure of the Director", async () => {
    const gone = await proxy();
    await gone.close();
    const { code, err } = await slipway({ BOSH_ALL_PROXY: gone.url });
    expect(code).toBe(1);
    expect(err).toContain(`BOSH_ALL_PROXY is closed: the proxy 127.0.0.1:${gone.port} does not listen`);
    expect(err).not.toContain("no Director answers");
  });

  it("is reported as unreachable if the proxy cannot connect to it", async () => {
    const { url } = await proxy({ answers: 5 });
    const { code, err } = await slipway({ BOSH_ALL_PROXY: url });
    expect(code).toBe(1);
    expect(err).toContain(`no Director answers at https://${NAME}:25555: the connection was refused`);
    expect(err).toContain("the proxy 127.0.0.1:");
  });

  it("is asked directly where NO_PROXY names it", async () => {
    const { url, seen } = await proxy();
    const env = { BOSH_ALL_PROXY: url, BOSH_ENVIRONMENT: director.url, NO_PROXY: "127.0.0.0/8" };
    expect((await slipway(env)).code).toBe(0);
    expect(seen).toEqual([]);
    // As upstream: without that even this machine is asked by the proxy.
    expect((await slipway({ ...env, NO_PROXY: "" })).code).toBe(0);
    expect(seen).toContain(`127.0.0.1:${director.port}`);
  });

  it("is asked directly where it is the one of slipway up", async () => {
    const { url, seen } = await proxy();
    const home = join(director.dir, "home");
    const admin = { name: "admin", password: "pw" };
    await writeFile(director.file("ca.pem"), director.ca);
    await mkdir(home, { recursive: true });
    const text = envText({ dir: home, url: director.url, caFile: director.file("ca.pem"), admin });
    await writeFile(join(home, "env"), text);
    expect((await runCli(["env"], { env: { BOSH_ALL_PROXY: url }, home })).code).toBe(0);
    expect(seen).toEqual([]);
  });

  it("reaches its UAA through the same proxy", async () => {
    const uaa = await UaaServer.start({ clients: { ci: { secret: "s", scopes: ["bosh.admin"] } } });
    onTestFinished(() => uaa.close());
    const { url, seen } = await proxy();
    const at = { type: "uaa", options: { url: uaa.url } };
    director.json("GET /info", { ...INFO, user_authentication: at });
    const both = director.file("both.pem");
    await writeFile(both, `${director.ca}\n${uaa.ca}`);
    const client = { BOSH_CA_CERT: both, BOSH_CLIENT: "ci", BOSH_CLIENT_SECRET: "s" };
    expect((await slipway({ BOSH_ALL_PROXY: url, ...client })).code).toBe(0);
    expect(uaa.asked).toEqual(["POST /oauth/token client_credentials"]);
    expect(seen).toContain(new URL(uaa.url).host);
  });
});

describe("without BOSH_ALL_PROXY a Director", () => {
  const usual = async (password?: string) => {
    const made = await proxyServer(password === undefined ? {} : { password });
    onTestFinished(() => made.close());
    return made;
  };
  const at = () => ({ BOSH_ENVIRONMENT: `https://${NAME}:${director.port}` });

  it("is asked through https_proxy, which makes the connection and sees no more", async () => {
    const { port, seen } = await usual("s3cret");
    const env = { ...at(), https_proxy: `http://u:s3cret@127.0.0.1:${port}` };
    const { code, out, err } = await slipway(env);
    expect(`${err}${code}`).toBe("0");
    expect(out).toContain("far");
    expect(new Set(seen)).toEqual(new Set([`CONNECT ${NAME}:${director.port}`]));
  });

  it("is asked directly where no_proxy names it, or on this machine", async () => {
    const { url, seen } = await usual();
    expect((await slipway({ BOSH_ENVIRONMENT: director.url, HTTPS_PROXY: url })).code).toBe(0);
    await slipway({ ...at(), https_proxy: url, no_proxy: ".inside" });
    expect(seen).toEqual([]);
  });

  it("is not asked if its proxy is unreachable or refuses the password; the error never shows the password", async () => {
    const made = await usual("s3cret");
    const env = { ...at(), https_proxy: `http://u:CANARY@127.0.0.1:${made.port}` };
    const refused = await slipway(env);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      `the way through https_proxy is closed: the proxy 127.0.0.1:${made.port} does not accept the name and the password`,
    );
    expect(refused.err).toContain("Correct https_proxy");
    await made.close();
    const away = await slipway(env);
    expect(away.err).toContain(`the proxy 127.0.0.1:${made.port} cannot be reached`);
    expect(`${refused.out}${refused.err}${away.out}${away.err}`).not.toContain("CANARY");
  });
});

describe("what BOSH_ALL_PROXY says", () => {
  it("is read only when needed: an invalid URL does not stop a command without requests", async () => {
    const bad = { BOSH_ALL_PROXY: "http://u:CANARY@proxy:3128" };
    const { code, err } = await slipway(bad);
    expect(code).toBe(2);
    expect(err).toContain("BOSH_ALL_PROXY cannot be used: it begins with http://");
    expect(err).not.toContain("CANARY");
    const file = director.file("x.yml");
    await writeFile(file, "a: 1\n");
    expect((await slipway(bad, "interpolate", file)).code).toBe(0);
  });
});
