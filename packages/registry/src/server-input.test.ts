import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { sampleOf } from "@slipway/testkit/sample";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AUTH, get, path, put, send, settingsOf, start, startHere, tempDir } from "./testing/harness.ts";

const MIB = 1 << 20;

/** Everything the server sends until it closes. One that has not read all by then resets the connection: the same end. */
async function allOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => undefined);
  await new Promise((closed) => socket.once("close", closed));
  return Buffer.concat(chunks).toString("latin1");
}

async function raw(port: number, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen });
  await once(socket, "connect");
  return socket;
}

const head = (lines: readonly string[]) =>
  `PUT ${path("vm-7")} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTH.authorization}\r\n${lines.join("\r\n")}\r\n\r\n`;

test.each([
  ["truncated JSON", '{"agent_id":"8a1'],
  ["a key twice", '{"a":1,"a":2}'],
  ["a __proto__ key", '{"__proto__":{"x":1}}'],
  ["deeply nested", "[".repeat(MIB)],
  ["control characters", "\u0000\u0001\n\r\t\u2028"],
  ["a byte order mark", "\ufeff{}"],
  ["blanks only", "  \n"],
  ["outside the basic plane", "😀\u{10ffff}"],
])("settings are never parsed: %s comes back byte for byte", async (_, text) => {
  const { url } = await start();
  expect((await put(url, "vm-7", text)).status).toBe(200);
  expect(await settingsOf(url, "vm-7")).toBe(text);
});

test("any text comes back byte for byte, under any id", async () => {
  const { url } = await start();
  const id = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(id, text, async (id, text) => {
      expect((await put(url, id, text)).status).toBe(200);
      const got = await get(url, id);
      expect(Buffer.from(JSON.parse(got.text).settings).equals(Buffer.from(text))).toBe(true);
    }),
    { numRuns: tries(100) },
  );
});

test.each([
  ["a bare continuation byte", [0x80]],
  ["a cut sequence", [0x7b, 0xe2, 0x82]],
  ["an encoded surrogate", [0xed, 0xa0, 0x80]],
  ["an overlong slash", [0xc0, 0xaf]],
  ["a gzip header", [0x1f, 0x8b, 0x08, 0x00]],
])("a body that is not UTF-8 is refused: %s", async (_, bytes) => {
  const { url } = await start();
  await put(url, "vm-7", "before");
  const got = await put(url, "vm-7", Buffer.from(bytes));
  expect([got.status, got.text]).toEqual([400, '{"status":"error"}']);
  expect(await settingsOf(url, "vm-7")).toBe("before");
});

test("a body at the limit is taken, one byte more is refused", async () => {
  const { url } = await start({ bodyLimit: 1000 });
  expect((await put(url, "vm-7", "x".repeat(1000))).status).toBe(200);
  const got = await put(url, "vm-7", "y".repeat(1001));
  expect([got.status, got.text]).toEqual([413, '{"status":"error"}']);
  expect(await settingsOf(url, "vm-7")).toBe("x".repeat(1000));
});

test("16 MiB of settings fit", async () => {
  const { url } = await start();
  const text = '{"k":"é"}\n'.repeat((16 * MIB) / 11);
  expect((await put(url, "vm-7", text)).status).toBe(200);
  expect((await settingsOf(url, "vm-7")) === text).toBe(true);
});

test.each(sampleOf("64 MiB", ["announced", "chunked"], 1))(
  "64 MiB, %s, get an answer and the registry lives on",
  async (how) => {
    const { url } = await start();
    const headers = how === "chunked" ? { ...AUTH, "transfer-encoding": "chunked" } : AUTH;
    const got = await put(url, "vm-7", Buffer.alloc(64 * MIB, "["), headers);
    expect([got.status, got.text]).toEqual([413, '{"status":"error"}']);
    expect(await settingsOf(url, "vm-7")).toBeUndefined();
  },
);

test("a client that listens only after it has sent 64 MiB still hears why they were refused", async () => {
  const { port } = await start();
  const socket = await raw(port);
  socket.pause();
  socket.write(head([`Content-Length: ${64 * MIB}`, "Connection: close"]));
  await new Promise((sent) => socket.write(Buffer.alloc(64 * MIB, "["), sent));
  socket.resume();
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 413 .*\{"status":"error"\}$/s);
});

test("a denied client may send its large body to the end", async () => {
  const { url } = await start();
  const got = await put(url, "vm-7", Buffer.alloc(8 * MIB, "["), {});
  expect(got.status).toBe(401);
});

test("a client that asks before sending is told to go on only if it may", async () => {
  const { port } = await start({ bodyLimit: 10 });
  const ask = async (headers: string) => {
    const socket = await raw(port);
    socket.write(headers);
    const [first] = (await once(socket, "data")) as [Buffer];
    return { socket, first: first.toString("latin1") };
  };
  const allowed = await ask(head(["Content-Length: 4", "Expect: 100-continue", "Connection: close"]));
  expect(allowed.first).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  allowed.socket.write("true");
  expect(await allOf(allowed.socket)).toContain("200 OK");
  const denied = await ask(
    `PUT ${path("vm-7")} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`,
  );
  expect(denied.first).toMatch(/^HTTP\/1\.1 401 .*Connection: close/s);
  denied.socket.destroy();
});

test("a client that closes its sending half is still answered", async () => {
  const { port, url } = await start();
  const socket = await raw(port, true);
  socket.end(`${head(["Content-Length: 4"])}true`);
  expect(await allOf(socket)).toContain("200 OK");
  expect(await settingsOf(url, "vm-7")).toBe("true");
});

test("a body cut off in the middle is never stored", async () => {
  const { port, url } = await start();
  await put(url, "vm-7", "before");
  const half = await raw(port, true);
  half.end(`${head(["Content-Length: 4"])}tr`);
  await allOf(half);
  const reset = await raw(port);
  await new Promise((sent) => reset.write(`${head(["Content-Length: 4"])}tr`, sent));
  reset.resetAndDestroy();
  expect(await settingsOf(url, "vm-7")).toBe("before");
});

test.each([
  ["its headers", `PUT ${path("vm-7")} HTTP/1.1\r\nHost: x\r\n`],
  ["its body", `${head(["Content-Length: 4"])}tr`],
  ["anything", ""],
])("a client that never finishes %s loses its connection", async (_, beginning) => {
  const dir = join(await tempDir(), "state");
  const impatient = await startHere(dir, { patience: { headersMs: 50, requestMs: 100 } });
  const socket = await raw(impatient.port);
  if (beginning !== "") socket.write(beginning);
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
  await impatient.close();
  // Asked of one that waits: on a busy machine the question itself may take longer than that.
  const { url } = await startHere(dir);
  expect(await settingsOf(url, "vm-7")).toBeUndefined();
});

test("headers and targets beyond any sense are refused, and the registry lives on", async () => {
  const { url, port } = await start();
  expect((await send(url, "GET", path("vm-7"), { headers: { ...AUTH, x: "y".repeat(20_000) } })).status).toBe(
    431,
  );
  expect((await send(url, "GET", path("v".repeat(20_000)), { headers: AUTH })).status).toBe(431);
  const socket = await raw(port);
  socket.write("\u0016\u0003\u0001 not http at all\r\n\r\n");
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 400 /);
  expect((await put(url, "vm-7", "{}")).status).toBe(200);
});

test("close does not wait for a client that never finishes", async () => {
  const registry = await start({ patience: { closeMs: 20 } });
  const silent = await raw(registry.port);
  const unfinished = await raw(registry.port);
  await new Promise((sent) => unfinished.write(`${head(["Content-Length: 4"])}tr`, sent));
  const closed = Promise.all([allOf(silent), allOf(unfinished)]);
  await registry.close();
  expect(await closed).toHaveLength(2);
});
