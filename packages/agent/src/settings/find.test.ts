import { createSocket } from "node:dgram";
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { registryClient } from "@slipway/registry/client";
import { startRegistry } from "@slipway/registry/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { RegistryNotAllowed, SettingsNotFound } from "./errors.ts";
import { FIRST_SEARCH, type FinderOptions, SettingsFinder } from "./find.ts";
import type { RegistryTools } from "./registry.ts";
import type { SettingsReader } from "./sources/source.ts";
import { AGENT_ID, NEVER, SETTINGS_TEXT, saying, tools } from "./testing/settings-lab.ts";

type Tools = Omit<Awaited<ReturnType<typeof tools>>, "clock"> & RegistryTools;
const search = (sources: readonly SettingsReader[], t: Tools, options: Partial<FinderOptions> = {}) =>
  new SettingsFinder({ sources, useRegistry: undefined, useServerName: false, ...options }, t);
const failure = (found: Promise<unknown>) =>
  found.then(
    () => "found",
    (error: Error) => error.message,
  );

describe("finding settings", () => {
  it("takes the first source that has them, and only that one from then on", async () => {
    const t = await tools();
    const [none, good, late] = [
      saying("A", new Error("gone")),
      saying("B", SETTINGS_TEXT),
      saying("C", SETTINGS_TEXT),
    ];
    const finder = search([none, good, late], t);
    const found = await finder.find(NEVER, FIRST_SEARCH);
    expect(found.origin).toBe("settings from B, which has an agent_id");
    await finder.find(NEVER, FIRST_SEARCH);
    expect([none.asked, good.asked, late.asked]).toEqual([1, 2, 0]);
  });

  it("tries every source a bounded number of times and then says what each of them said", async () => {
    const t = await tools();
    const causes: string[] = [];
    const [a, b] = [saying("A", new Error("no disk")), saying("B", "<html>")];
    const finder = search([a, b], t, { onWait: (...told) => causes.push(told.join(": ")) });
    const message = await failure(finder.find(NEVER, FIRST_SEARCH));
    expect(message).toContain("no disk");
    expect(message).toContain("B holds no usable settings: user-data is neither JSON nor URL-safe base64");
    expect([a.asked, b.asked]).toEqual([10, 10]);
    expect(causes[0]).toContain("round 1 of 10: no disk");
  });

  it.each([
    "",
    "null",
    "[]",
    "5",
    '"x"',
    "{}",
    '{"agent_id":""}',
    '{"agent_id":7}',
    '{"agent_id":"a","agent_id":"b"}',
    '{"agent_id":"a","__proto__":{}}',
    '{"agent_id":"a","networks":[]}',
    '{"registry":{}}',
    Buffer.from('{"agent_id":"a","agent_id":"b"}').toString("base64url"),
  ])("never takes %j for settings", async (text) => {
    const t = await tools();
    const found = search([saying("A", text)], t).find(NEVER, FIRST_SEARCH);
    await expect(found).rejects.toSatisfy(SettingsNotFound.is);
  });

  it("ends at once when the agent is to end", async () => {
    const ending = new AbortController();
    ending.abort(new Error("ending"));
    const found = search([saying("A", new Error("no"))], await tools()).find(ending.signal, FIRST_SEARCH);
    await expect(found).rejects.toThrow("ending");
  });
});

describe("incomplete user-data", () => {
  const CANARY = "canary-p%3Ass";
  async function registry(t: Tools) {
    const server = await startRegistry({
      dir: join(t.dir, "registry"),
      port: 0,
      users: [{ username: "agent", password: "canary-p:ss" }],
    });
    onTestFinished(() => server.close());
    const endpoint = `http://agent:${CANARY}@127.0.0.1:${server.port}`;
    return {
      endpoint,
      port: server.port,
      put: (id: string) => registryClient({ endpoint }).put(id, SETTINGS_TEXT),
    };
  }
  const leading = (endpoint: string, more: object = {}) =>
    JSON.stringify({ server: { name: "vm-7" }, registry: { endpoint }, ...more });

  it("lead to the registry, and the origin says so without its password", async () => {
    const t = await tools();
    const { endpoint, put, port } = await registry(t);
    await put("vm-7");
    const found = await search([saying("A", leading(endpoint))], t).find(NEVER, FIRST_SEARCH);
    expect(found.settings.agent_id).toBe(AGENT_ID);
    expect(found.origin).toBe(
      `settings from the registry http://127.0.0.1:${port} under "vm-7", to which A leads; it has no agent_id`,
    );
  });

  it("are looked up by instance id, or by server name where agent.json says so", async () => {
    const t = await tools();
    const { endpoint, put } = await registry(t);
    await put("i-1");
    const source = { ...saying("A", leading(endpoint)), instanceId: async () => "i-1" };
    expect((await search([source], t).find(NEVER, FIRST_SEARCH)).origin).toContain('under "i-1"');
    const byName = search([source], t, { useServerName: true }).find(NEVER, FIRST_SEARCH);
    expect(await failure(byName)).toContain('has no settings for "vm-7" yet');
  });

  it("are settled when the CPI stores the settings after the VM has started", async () => {
    const t = await tools();
    const { endpoint, put } = await registry(t);
    let rounds = 0;
    const source = saying("A", leading(endpoint));
    const late = {
      ...source,
      read: async () => {
        if (++rounds === 3) await put("vm-7");
        return await source.read(NEVER);
      },
    } as SettingsReader;
    expect((await search([late], t).find(NEVER, FIRST_SEARCH)).settings.agent_id).toBe(AGENT_ID);
    expect(rounds).toBe(3);
  });

  it("may name a file instead of a registry", async () => {
    const t = await tools();
    await writeFile(t.paths.system("env.json"), SETTINGS_TEXT);
    const found = await search([saying("A", leading("/env.json"))], t).find(NEVER, FIRST_SEARCH);
    expect(found.origin).toContain("settings from the file /env.json");
  });

  it("name a registry by a name that the VM's own name servers resolve", async () => {
    const t = await tools();
    const { port, put } = await registry(t);
    await put("vm-7");
    const nameserver = await dnsServer("127.0.0.1");
    const endpoint = `http://agent:${CANARY}@registry.internal.example:${port}`;
    const text = leading(endpoint, { dns: { nameserver: [nameserver] } });
    expect((await search([saying("A", text)], t).find(NEVER, FIRST_SEARCH)).settings.agent_id).toBe(AGENT_ID);
  });

  it("are refused where agent.json forbids the registry", async () => {
    const t = await tools();
    const found = search([saying("A", leading("http://h"))], t, { useRegistry: false }).find(
      NEVER,
      FIRST_SEARCH,
    );
    expect(await failure(found)).toContain(RegistryNotAllowed({ source: "A" }).message);
  });

  it("report what is missing to ask the registry, or that the password is wrong", async () => {
    const t = await tools();
    const { endpoint } = await registry(t);
    const nameless = JSON.stringify({ registry: { endpoint } });
    expect(await failure(search([saying("A", nameless)], t).find(NEVER, FIRST_SEARCH))).toContain(
      "neither an instance id",
    );
    const wrong = leading(endpoint.replace(CANARY, "canary-wrong"));
    const message = await failure(search([saying("A", wrong)], t).find(NEVER, FIRST_SEARCH));
    expect(message).toContain("HTTP 401");
    expect(message).not.toContain("canary");
  });
});

describe("a registry that cannot be trusted", () => {
  /** Answers one way after the other, the last one for ever. */
  async function registry(...answers: readonly ((response: ServerResponse) => void)[]) {
    let asked = 0;
    const server = createServer((_, response) => answers[Math.min(asked++, answers.length - 1)]?.(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const close = () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    };
    onTestFinished(async () => void (await close()));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const userData = JSON.stringify({ server: { name: "vm-7" }, registry: { endpoint } });
    return { source: saying("A", userData), close, asked: () => asked };
  }
  const body =
    (text: string, status = 200) =>
    (response: ServerResponse) =>
      void response.writeHead(status).end(text);
  const settings = (text: string) => body(JSON.stringify({ settings: text, status: "ok" }));

  it.each(
    Object.entries({
      "an HTML page": body("<html>Log in</html>"),
      nothing: body(""),
      "half an answer": body('{"settings":"{'),
      "JSON of another shape": body('[{"settings":1}]'),
      "settings that are no text": body('{"settings":{"agent_id":"a"},"status":"ok"}'),
      "settings that are an HTML page": settings("<html></html>"),
      "settings without an agent_id": settings('{"mbus":"nats://h:1"}'),
      "settings of the wrong kind": settings('{"agent_id":"a","networks":[]}'),
      "an error": body("oops", 500),
    }),
  )("is not believed when it answers %s, and asked again until it makes sense", async (_, lie) => {
    const { source, asked } = await registry(lie, lie, settings(SETTINGS_TEXT));
    const found = await search([source], await tools()).find(NEVER, FIRST_SEARCH);
    expect(found.settings.agent_id).toBe(AGENT_ID);
    expect(asked()).toBe(3);
  });

  it("costs a bounded time while it is down or slow, and the error has the cause", async () => {
    const slow = await registry((response) => void response.writeHead(200).write('{"settings":'));
    const patience = { ...(await tools()), clock: systemClock };
    const hasty = { ...patience, attemptTimeoutMs: 40 };
    const once = { ...FIRST_SEARCH, tries: 1 };
    expect(await failure(search([slow.source], hasty).find(NEVER, once))).toContain("within 0.04 s");
    const gone = await registry();
    await gone.close();
    expect(await failure(search([gone.source], patience).find(NEVER, once))).toContain("ECONNREFUSED");
  });
});

/** Answers every question with one address. */
async function dnsServer(address: string): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]);
    socket.send(Buffer.concat([header, question, answer]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}
