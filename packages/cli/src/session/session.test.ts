import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { envText } from "../up/env-file.ts";
import { type Logins, readLogins, withLogin, withoutAlias, withoutLogin, writeLogins } from "./logins.ts";
import { directorUrl, findSession } from "./session.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const NOTHING = { environment: undefined, caCert: undefined, client: undefined, clientSecret: undefined };
const none: Logins = { version: 1, environments: [] };

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(() => remove());

const home = () => ({
  loginFile: join(dir, "logins.json"),
  envFile: join(dir, "env"),
  runFile: join(dir, "running.json"),
});
const find = (asked: Partial<typeof NOTHING> | Record<string, string>) =>
  findSession({ ...NOTHING, ...asked }, home());

async function local(url = "https://127.0.0.1:25555", password = 'it\'s $HOME "x"') {
  const caFile = join(dir, "ca.crt");
  await writeFile(caFile, PEM);
  await writeFile(home().envFile, envText({ dir: "/home", url, caFile, admin: { name: "admin", password } }));
}

const remember = (login: object, current = false) =>
  readLogins(home().loginFile).then((logins) =>
    writeLogins(home().loginFile, withLogin(logins, login as never, current)),
  );

describe("the Director meant", () => {
  it("is missing if nothing names one, and the error says what does", async () => {
    await expect(find({})).rejects.toMatchObject({
      code: "CLI-010",
      next: expect.stringContaining("slipway up"),
    });
  });

  it("is the one of slipway up, whose file is read as a shell would", async () => {
    await local();
    expect(await find({})).toEqual({
      url: "https://127.0.0.1:25555",
      ca: PEM,
      user: "admin",
      password: 'it\'s $HOME "x"',
      here: true,
    });
  });

  it("may have its password in a file of its own", async () => {
    await writeFile(join(dir, "pw"), "secret\n");
    await writeFile(
      home().envFile,
      `export BOSH_ENVIRONMENT=https://h:1\nexport BOSH_CLIENT=a\nexport BOSH_CLIENT_SECRET=$(cat ${join(dir, "pw")})\n`,
    );
    expect(await find({})).toMatchObject({ url: "https://h:1", user: "a", password: "secret" });
  });

  it("is the last log-in before the local one, and what is named before both", async () => {
    await local();
    await remember({ url: "https://far:25555", user: "me", password: "p", ca_cert: PEM }, true);
    expect(await find({})).toMatchObject({ url: "https://far:25555", user: "me" });
    expect(await find({ environment: "https://127.0.0.1" })).toMatchObject({ user: "admin", ca: PEM });
  });

  it("says which one of this machine was passed over for a log-in, where that runs and none was named", async () => {
    await local();
    await remember({ url: "https://far:25555", user: "me", password: "p", ca_cert: PEM }, true);
    expect(await find({})).not.toHaveProperty("passedOver");
    await writeFile(home().runFile, "{}");
    expect(await find({})).toHaveProperty("passedOver", "https://127.0.0.1:25555");
    for (const environment of ["https://far:25555", "https://127.0.0.1:25555"])
      expect(await find({ environment })).not.toHaveProperty("passedOver");
    await remember({ url: "https://127.0.0.1:25555", user: "me", password: "p" }, true);
    expect(await find({})).not.toHaveProperty("passedOver");
  });

  it("has the remembered values of its alias", async () => {
    await remember({ url: "https://far:25555", alias: "lab", ca_cert: PEM });
    await remember({ url: "https://far:25555", user: "me", password: "p" });
    expect(await find({ environment: "lab" })).toEqual({
      url: "https://far:25555",
      ca: PEM,
      user: "me",
      password: "p",
    });
    await expect(find({ environment: "lap" })).rejects.toMatchObject({ code: "CLI-011" });
  });

  it("never gets the credentials of another", async () => {
    await local();
    await remember({ url: "https://far:25555", user: "me", password: "p", ca_cert: PEM }, true);
    const stranger = await find({ environment: "https://stranger:25555" });
    expect(stranger).toEqual({
      url: "https://stranger:25555",
      ca: undefined,
      user: undefined,
      password: undefined,
    });
  });

  it("gets a name only with the password from the same place", async () => {
    await local();
    expect(await find({ client: "other" })).toMatchObject({ user: "other", password: undefined });
    expect(await find({ client: "other", clientSecret: "s" })).toMatchObject({
      user: "other",
      password: "s",
    });
  });

  it("is checked against a file or a text", async () => {
    await local();
    expect((await find({ caCert: PEM.replace("x", "y") })).ca).toContain("y");
    await expect(find({ caCert: join(dir, "none") })).rejects.toMatchObject({ code: "CLI-014" });
    await expect(find({ caCert: home().envFile })).rejects.toMatchObject({ code: "CLI-014" });
  });
});

describe("a URL", () => {
  it.each([
    ["https://1.2.3.4:25555", "https://1.2.3.4:25555"],
    ["1.2.3.4", "https://1.2.3.4:25555"],
    ["host.example:1234", "https://host.example:1234"],
    ["https://host/path?x", "https://host:25555"],
    ["https://host:443", "https://host:443"],
    ["HTTPS://Host", "https://host:25555"],
    ["https://[::1]:1", "https://[::1]:1"],
    ["localhost", "https://localhost:25555"],
  ])("%s is %s", (given, url) => {
    expect(directorUrl(given)).toBe(url);
  });

  it.each(["http://1.2.3.4", "https://", "ftp://x", "a b"])("refuses %s", (given) => {
    expect(() => directorUrl(given)).toThrow("neither the URL of a Director");
  });

  it.each([
    ["http://admin:pa/ss@1.2.3.4", "'http://***@1.2.3.4'"],
    ["https://admin:pass@a b", "'https://***@a b'"],
    ["admin:pass@a b", "'***@a b'"],
  ])("%s is none, and its password is not repeated", (given, told) => {
    expect(() => directorUrl(given)).toThrow(told);
  });
});

describe("what is remembered", () => {
  it("is readable by its owner only, and leaves no other files beside it", async () => {
    await remember({ url: "https://far:1", user: "me", password: "p" });
    await remember({ url: "https://far:2", user: "me", password: "q" });
    expect((await stat(home().loginFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(dir)).toEqual(["logins.json"]);
  });

  it("an alias means one environment", () => {
    const first = withLogin(none, { url: "https://a:1", alias: "lab" }, false);
    const second = withLogin(first, { url: "https://b:1", alias: "lab" }, false);
    expect(second.environments).toEqual([{ url: "https://a:1" }, { url: "https://b:1", alias: "lab" }]);
  });

  it("an alias is forgotten alone", () => {
    const known = withLogin(none, { url: "https://a:1", alias: "lab", user: "me", password: "p" }, true);
    expect(withoutAlias(known, "lab")).toEqual({
      ...known,
      environments: [{ url: "https://a:1", user: "me", password: "p" }],
    });
    expect(withoutAlias(known, "other")).toEqual(known);
  });

  it("is forgotten by a log-out, but for alias and authority", () => {
    const login = { url: "https://a:1", alias: "lab", ca_cert: PEM, user: "me", password: "p" };
    expect(withoutLogin(withLogin(none, login, true), "https://a:1")).toEqual({
      version: 1,
      environments: [{ url: "https://a:1", alias: "lab", ca_cert: PEM }],
    });
  });

  it.each([
    "{",
    "[]",
    '{"version":2,"environments":[]}',
    '{"version":1,"environments":[{"url":"","password":"hush"}]}',
  ])("is reported as damaged without being quoted: %s", async (text) => {
    await writeFile(home().loginFile, text);
    await chmod(home().loginFile, 0o600);
    const error: unknown = await find({}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CLI-013" });
    expect(String(error)).not.toContain("hush");
  });
});
