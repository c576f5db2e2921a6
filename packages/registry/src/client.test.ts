import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "@slipway/kernel/clock";
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { expect, onTestFinished, test } from "vitest";
import { registryClient } from "./client.ts";
import { AUTH, PASSWORD, start, tempDir, USER } from "./testing/harness.ts";
import { bundleOf } from "./testing/program.ts";

const credentials = { username: USER.username, password: USER.password };

/** A registry that answers as it is told, one answer after the other; the last one again and again. */
async function scripted(...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
  const seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answers[Math.min(seen.length, answers.length) - 1]?.(request, response);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, seen };
}

const answers =
  (status: number, text = "") =>
  (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status).end(text);
const hangUp = (request: IncomingMessage) => request.socket.destroy();

/** Sleeps take no time and are written down. */
function quickClock() {
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      slept.push(ms);
      signal?.throwIfAborted();
    },
  };
  return { clock, slept };
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error("it should have failed");
    },
    (error: unknown) => error,
  );

test("what is put is got, until it is deleted", async () => {
  const { url } = await start();
  const client = registryClient({ endpoint: url, ...credentials });
  expect(await client.get("vm/7")).toBeUndefined();
  await client.put("vm/7", '{"agent_id":"ü"}');
  expect(await client.get("vm/7")).toBe('{"agent_id":"ü"}');
  await client.delete("vm/7");
  await client.delete("vm/7");
  expect(await client.get("vm/7")).toBeUndefined();
});

test("credentials may stand percent-encoded in the endpoint, and http:// may be missing", async () => {
  const { url, port } = await start({ addressCheck: { mayRead: () => false } });
  const userinfo = `registry:${encodeURIComponent(PASSWORD)}`;
  await registryClient({ endpoint: url.replace("//", `//${userinfo}@`) }).put("vm-7", "1");
  await registryClient({ endpoint: `${userinfo}@localhost:${port}` }).put("vm-7", "2");
  expect(await registryClient({ endpoint: `localhost:${port}/`, ...credentials }).get("vm-7")).toBe("2");
});

test("HTTPS is trusted only with the right authority", async () => {
  const { url } = await start({ tls: { cert: TEST_CERT, key: TEST_KEY } });
  const { clock } = quickClock();
  await registryClient({ endpoint: url, ...credentials, ca: TEST_CERT }).put("vm-7", "1");
  const error = await failureOf(registryClient({ endpoint: url, ...credentials, clock }).get("vm-7"));
  expect(error).toMatchObject({ code: "REG-031" });
});

test("requests look like those of the old clients", async () => {
  const { endpoint, seen } = await scripted(answers(200, '{"status":"ok","settings":"x"}'));
  const client = registryClient({ endpoint: `${endpoint}/base/`, ...credentials });
  await client.put("vm-7", '{"a":1}');
  await client.get("vm-7");
  await client.delete("vm-7");
  const auth = { authorization: AUTH.authorization, accept: "application/json" };
  expect(seen).toEqual([
    {
      method: "PUT",
      url: "/base/instances/vm-7/settings",
      headers: expect.objectContaining({
        ...auth,
        "content-type": "application/json",
        "content-length": "7",
      }),
      body: '{"a":1}',
    },
    { method: "GET", url: "/base/instances/vm-7/settings", headers: expect.objectContaining(auth), body: "" },
    {
      method: "DELETE",
      url: "/base/instances/vm-7/settings",
      headers: expect.objectContaining(auth),
      body: "",
    },
  ]);
});

test("the old CLI's registry is understood: 201, empty bodies, not_found with empty settings", async () => {
  const { endpoint } = await scripted(
    answers(201),
    answers(200),
    answers(200),
    answers(404, '{"settings":"","status":"not_found"}'),
    answers(404),
  );
  const client = registryClient({ endpoint, ...credentials });
  await client.put("vm-7", "1");
  await client.put("vm-7", "2");
  await client.delete("vm-7");
  expect(await client.get("vm-7")).toBeUndefined();
  await client.delete("vm-7");
});

test("the Ruby registry's 500 is tried again, then said as it is", async () => {
  const { endpoint, seen } = await scripted(answers(500, '{"status":"error"}'));
  const { clock, slept } = quickClock();
  const error = await failureOf(registryClient({ endpoint, ...credentials, clock }).get("vm-7"));
  expect(error).toMatchObject({ code: "REG-032" });
  expect(errorText(error)).toBe(
    [
      `REG-032 cannot read the settings of "vm-7" at ${endpoint}: got HTTP 500`,
      "  next: Look at the registry's log. An old registry answers 500 also for an id it does not know.",
    ].join("\n"),
  );
  expect(seen.length).toBe(5);
  expect(slept.length).toBe(4);
});

test("delays double from 200 ms, jittered and capped", async () => {
  const { endpoint } = await scripted(answers(503));
  const { clock, slept } = quickClock();
  const backoff = { tries: 8, firstDelayMs: 200, longestDelayMs: 3000 };
  const random = { ...systemRandom, fraction: () => 0.5 };
  await failureOf(registryClient({ endpoint, clock, random, backoff }).get("vm-7"));
  expect(slept).toEqual([150, 300, 600, 1200, 2250, 2250, 2250]);
});

test.each([
  ["a reset connection", hangUp],
  ["500", answers(500)],
  ["503", answers(503)],
  ["429", answers(429)],
])("after %s the client tries again and succeeds", async (_, trouble) => {
  const { endpoint, seen } = await scripted(trouble, trouble, answers(200, '{"status":"ok"}'));
  const { clock } = quickClock();
  await registryClient({ endpoint, ...credentials, clock }).put("vm-7", "settings");
  expect(seen.map((request) => request.body)).toEqual(["settings", "settings", "settings"]);
});

test("a reply cut short is tried again", async () => {
  const cut = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"status":"ok"', () => response.destroy());
  };
  const { endpoint, seen } = await scripted(cut, answers(200, '{"status":"ok","settings":"whole"}'));
  const { clock } = quickClock();
  expect(await registryClient({ endpoint, clock }).get("vm-7")).toBe("whole");
  expect(seen.length).toBe(2);
});

test("a server that never answers costs one attempt each, not forever", async () => {
  const clock = fakeClock({ hurry: true });
  // Time stands still until the server has the request that it will not answer.
  const { endpoint, seen } = await scripted(
    () => void clock.advance(30_000),
    answers(200, '{"status":"ok","settings":"at last"}'),
  );
  expect(await registryClient({ endpoint, clock, attemptTimeoutMs: 30_000 }).get("vm-7")).toBe("at last");
  expect(seen.length).toBe(2);
});

test.each([
  [400, "REG-034"],
  [401, "REG-033"],
  [403, "REG-033"],
  [413, "REG-034"],
  [302, "REG-034"],
])("HTTP %i is final", async (status, code) => {
  const { endpoint, seen } = await scripted(answers(status));
  const error = await failureOf(registryClient({ endpoint, ...credentials }).put("vm-7", "1"));
  expect(error).toMatchObject({ code });
  expect(seen.length).toBe(1);
});

test("settings larger than the registry takes are refused at once", async () => {
  const { url } = await start({ bodyLimit: 1000 });
  const error = await failureOf(
    registryClient({ endpoint: url, ...credentials }).put("vm-7", "x".repeat(8 << 20)),
  );
  expect(error).toMatchObject({ code: "REG-034", message: expect.stringContaining("got HTTP 413") });
});

test.each([
  "",
  "<html>",
  "null",
  '{"status":"ok"}',
  '{"status":"ok","settings":{}}',
  '{"status":"error","settings":"x"}',
])("a reply that no registry gives is an error: %j", async (text) => {
  const { endpoint, seen } = await scripted(answers(200, text));
  expect(await failureOf(registryClient({ endpoint }).get("vm-7"))).toMatchObject({ code: "REG-035" });
  expect(seen.length).toBe(1);
});

test("a refused connection is retried, then names the endpoint without its credentials", async () => {
  const { endpoint } = await start().then(async (registry) => {
    await registry.close();
    return { endpoint: registry.url };
  });
  const { clock, slept } = quickClock();
  const client = registryClient({ endpoint: endpoint.replace("//", "//registry:canary@"), clock });
  const error = await failureOf(client.put("vm-7", "canary settings"));
  expect(slept.length).toBe(4);
  expect(errorText(error)).toContain(`cannot write the settings of "vm-7" at ${endpoint}: no answer`);
  expect(errorText(error)).toContain("ECONNREFUSED");
  expect(errorText(error)).not.toContain("canary");
});

test.each(["http://canary:canary@", "ftp://canary@host", "http://a:100%@canary", "", "http://canary:99999"])(
  "a bad endpoint is refused at once and not quoted: %j",
  (endpoint) => {
    const attempt = () => registryClient({ endpoint });
    expect(attempt).toThrow(expect.objectContaining({ code: "REG-030" }));
    expect(attempt).not.toThrow(/canary/);
  },
);

test("what no registry takes is refused before it is sent", async () => {
  const { endpoint, seen } = await scripted(answers(200));
  const client = registryClient({ endpoint });
  for (const attempt of [
    client.put("vm-7", ""),
    client.put("vm-7", "\ud800"),
    client.get(""),
    client.delete("\udfff"),
  ]) {
    expect(await failureOf(attempt)).toMatchObject({ code: "REG-036" });
  }
  expect(seen).toEqual([]);
});

test("an abort ends the attempt and the retries, with its own reason", async () => {
  const abort = new AbortController();
  const reason = new Error("the operator changed their mind");
  const { endpoint, seen } = await scripted(() => abort.abort(reason));
  expect(await failureOf(registryClient({ endpoint, signal: abort.signal }).get("vm-7"))).toBe(reason);
  expect(seen.length).toBe(1);
});

test("loading the client loads neither HTTP nor TLS", async () => {
  const dir = await tempDir();
  const script = await bundleOf("../client.ts");
  const probe = join(dir, "probe.cjs");
  await writeFile(
    probe,
    `require(${JSON.stringify(script)}).registryClient({ endpoint: "localhost" });
     process.stdout.write(JSON.stringify(process.moduleLoadList.filter((m) => /^NativeModule (http|https|tls)$/.test(m))));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [probe]);
  expect(stdout).toBe("[]");
});
