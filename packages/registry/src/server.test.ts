import { networkInterfaces } from "node:os";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { expect, test } from "vitest";
import { type RegistryEvent, startRegistry } from "./server.ts";
import {
  AUTH,
  basic,
  get,
  PASSWORD,
  path,
  put,
  send,
  settingsOf,
  start,
  tempDir,
} from "./testing/harness.ts";

const SETTINGS = '{"agent_id":"8a1c","disks":{"system":"/dev/sda","persistent":{}}}';
const stranger = { mayRead: () => false };

test("what was put is read back as a JSON string inside JSON", async () => {
  const { url } = await start();
  const written = await put(url, "vm-7", SETTINGS);
  expect([written.status, written.text]).toEqual([200, '{"status":"ok"}']);
  const read = await get(url, "vm-7");
  expect(read.status).toBe(200);
  expect(read.text).toBe(
    String.raw`{"status":"ok","settings":"{\"agent_id\":\"8a1c\",\"disks\":{\"system\":\"/dev/sda\",\"persistent\":{}}}"}`,
  );
  expect(read.headers["content-type"]).toBe("application/json");
});

test("a second put replaces the first and is answered alike", async () => {
  const { url } = await start();
  await put(url, "vm-7", "first");
  const second = await put(url, "vm-7", "second");
  expect([second.status, second.text]).toEqual([200, '{"status":"ok"}']);
  expect(await settingsOf(url, "vm-7")).toBe("second");
});

test("an unknown id is not found", async () => {
  const { url } = await start();
  const got = await get(url, "nobody");
  expect([got.status, got.text]).toEqual([404, '{"status":"not_found"}']);
});

test.each(["PUT", "DELETE"])(
  "%s without valid credentials is denied with a challenge and changes nothing",
  async (method) => {
    const { url } = await start();
    await put(url, "vm-7", SETTINGS);
    const wrong = [
      {},
      { authorization: basic("registry", "wrong") },
      { authorization: basic("stranger", PASSWORD) },
      { authorization: basic("registry", "") },
      { authorization: "Basic !!!" },
      { authorization: "Basic" },
      { authorization: "Bearer token" },
    ];
    for (const headers of wrong) {
      const got = await send(url, method, path("vm-7"), { headers, body: "changed" });
      expect([got.status, got.text]).toEqual([401, '{"status":"access_denied"}']);
      expect(got.headers["www-authenticate"]).toBe('Basic realm="Bosh Registry"');
    }
    expect(await settingsOf(url, "vm-7")).toBe(SETTINGS);
  },
);

test("an empty put is an error and keeps what was there", async () => {
  const { url } = await start();
  await put(url, "vm-7", SETTINGS);
  const got = await put(url, "vm-7", "");
  expect([got.status, got.text]).toEqual([500, '{"status":"error"}']);
  expect(await settingsOf(url, "vm-7")).toBe(SETTINGS);
});

test("delete is ok whether or not there was an entry", async () => {
  const { url } = await start();
  await put(url, "vm-7", SETTINGS);
  for (let i = 0; i < 2; i++) {
    const got = await send(url, "DELETE", path("vm-7"), { headers: AUTH });
    expect([got.status, got.text]).toEqual([200, '{"status":"ok"}']);
    expect(await settingsOf(url, "vm-7")).toBeUndefined();
  }
});

test.each([
  ["GET", "/"],
  ["GET", "/instances"],
  ["GET", "/instances//settings"],
  ["GET", "/instances/vm-7"],
  ["GET", "/instances/vm-7/settings/"],
  ["GET", "/instances/a/b/settings"],
  ["GET", "/instances/%zz/settings"],
  ["GET", "/instances/%ff/settings"],
  ["POST", "/instances/vm-7/settings"],
  ["PATCH", "/instances/vm-7/settings"],
  ["OPTIONS", "*"],
])("%s %s is not found", async (method, target) => {
  const { url } = await start();
  const got = await send(url, method, target, { headers: AUTH });
  expect([got.status, got.text]).toEqual([404, '{"status":"not_found"}']);
});

test("ids are decoded from the path, kept apart, and never folded", async () => {
  const { url } = await start();
  const ids = ["vm-7", "VM-7", "a/b", "..", ".", "a b", "ü", "%41", "A", "__proto__", "constructor", "a?b#c"];
  for (const id of ids) await put(url, id, `settings of ${id}`);
  for (const id of ids) expect(await settingsOf(url, id)).toBe(`settings of ${id}`);
  expect((await send(url, "GET", `${path("vm-7")}?x=1`, { headers: AUTH })).status).toBe(200);
  expect((await send(url, "GET", `http://proxy.example${path("vm-7")}`, { headers: AUTH })).status).toBe(200);
});

test("the same machine reads without credentials", async () => {
  const { url } = await start();
  await put(url, "vm-7", SETTINGS);
  expect((await get(url, "vm-7", {})).status).toBe(200);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

test.runIf(hasIpv6).each(["::1", "::"])(
  "the same machine reads without credentials over %s",
  async (host) => {
    const { url, port } = await start({ host });
    expect(url).toBe(`http://[${host}]:${port}`);
    // An IPv4 peer of a socket that takes both.
    const base = host === "::" ? `http://127.0.0.1:${port}` : url;
    await put(base, "vm-7", SETTINGS);
    expect((await get(base, "vm-7", {})).status).toBe(200);
  },
);

test("a stranger without credentials gets an error, alike for known and unknown ids", async () => {
  const { url } = await start({ addressCheck: stranger });
  await put(url, "vm-7", SETTINGS);
  for (const id of ["vm-7", "nobody"]) {
    const got = await get(url, id, { "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1" });
    expect([got.status, got.text]).toEqual([500, '{"status":"error"}']);
  }
});

test("valid credentials make the address irrelevant", async () => {
  const { url } = await start({ addressCheck: stranger });
  await put(url, "vm-7", SETTINGS);
  expect((await get(url, "vm-7")).status).toBe(200);
});

test("wrong credentials are denied even where none are needed", async () => {
  const { url } = await start();
  await put(url, "vm-7", SETTINGS);
  const got = await get(url, "vm-7", { authorization: basic("registry", "wrong") });
  expect([got.status, got.text]).toEqual([401, '{"status":"access_denied"}']);
});

test("the address check sees the peer's address and the id, and a failure in it refuses", async () => {
  const asked: string[][] = [];
  const errors: unknown[] = [];
  const addressCheck = {
    mayRead: async (address: string, id: string) => {
      asked.push([address, id]);
      if (id === "broken") throw new Error("the cloud does not answer");
      return id === "mine";
    },
  };
  const { port } = await start({ addressCheck, onError: (error) => errors.push(error) });
  const base = `http://127.0.0.1:${port}`;
  await put(base, "mine", SETTINGS);
  const statuses = [];
  for (const id of ["mine", "other", "broken"]) statuses.push((await get(base, id, {})).status);
  expect(statuses).toEqual([200, 500, 500]);
  expect(asked).toEqual([
    ["127.0.0.1", "mine"],
    ["127.0.0.1", "other"],
    ["127.0.0.1", "broken"],
  ]);
  expect(errors).toEqual([expect.objectContaining({ code: "REG-014" })]);
});

test("additional users may do what the first may", async () => {
  const users = [
    { username: "one", password: "1" },
    { username: "two", password: "2:2" },
  ];
  const { url } = await start({ users, addressCheck: stranger });
  expect((await put(url, "vm-7", SETTINGS, { authorization: basic("one", "1") })).status).toBe(200);
  expect((await get(url, "vm-7", { authorization: basic("two", "2:2") })).status).toBe(200);
  expect((await get(url, "vm-7", { authorization: basic("two", "1") })).status).toBe(401);
  const lowerCaseScheme = basic("two", "2:2").replace("Basic", "basic");
  expect((await get(url, "vm-7", { authorization: lowerCaseScheme })).status).toBe(200);
});

test.each([
  ["none", []],
  ["an empty name", [{ username: "", password: "x" }]],
  ["a name with a colon", [{ username: "a:b", password: "canary" }]],
  ["an empty password", [{ username: "a", password: "" }]],
])("users are refused at the start: %s", async (_, users) => {
  const dir = await tempDir();
  const refused = startRegistry({ dir, port: 0, users });
  await expect(refused).rejects.toMatchObject({
    code: "REG-012",
    message: expect.not.stringContaining("canary"),
  });
});

test("HTTPS serves the same", async () => {
  const { url } = await start({ tls: { cert: TEST_CERT, key: TEST_KEY } });
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect((await put(url, "vm-7", SETTINGS)).status).toBe(200);
  expect(await settingsOf(url, "vm-7")).toBe(SETTINGS);
});

test("an unusable certificate is refused without quoting it", async () => {
  const dir = await tempDir();
  const tls = { cert: TEST_CERT, key: "canary" };
  const refused = startRegistry({ dir, port: 0, users: [{ username: "a", password: "b" }], tls });
  await expect(refused).rejects.toMatchObject({
    code: "REG-011",
    message: expect.not.stringContaining("canary"),
  });
});

test("a taken port is a clear error and leaves the directory free", async () => {
  const first = await start();
  const dir = await tempDir();
  const users = [{ username: "a", password: "b" }];
  await expect(startRegistry({ dir, port: first.port, users })).rejects.toMatchObject({ code: "REG-010" });
  await (await startRegistry({ dir, port: 0, users })).close();
});

test("every answered request is reported with method, id and status", async () => {
  const events: RegistryEvent[] = [];
  const { url } = await start({ onRequest: (event) => events.push(event) });
  await put(url, "vm-7", SETTINGS);
  await get(url, "nobody");
  await send(url, "GET", "/elsewhere");
  expect(events).toEqual([
    { method: "PUT", id: "vm-7", status: 200 },
    { method: "GET", id: "nobody", status: 404 },
    { method: "GET", id: undefined, status: 404 },
  ]);
});

test("no reply but the read itself shows settings or passwords", async () => {
  const { url } = await start({ addressCheck: stranger });
  const replies = [
    await put(url, "vm-7", "canary-settings"),
    await put(url, "vm-7", "canary", { authorization: basic("registry", "canary-wrong") }),
    await get(url, "vm-7", {}),
    await get(url, "other"),
    await send(url, "DELETE", path("vm-7"), { headers: AUTH, body: "canary" }),
  ];
  expect(JSON.stringify(replies)).not.toContain("canary");
});
