import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it, onTestFinished } from "vitest";
import type { ApiOptions } from "./server.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

async function started(options: Partial<ApiOptions>, change = {}): Promise<Harness> {
  const api = await startHarness(change, options);
  onTestFinished(() => api.close());
  return api;
}

/** Opens a TCP connection and sends nothing. */
async function silent({ port }: Harness, options = {}): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", ...options }).resume();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Waits until the connection is closed. A reset is one way to close it, and `once` of events would fail for it. */
async function expectClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  expect(socket.closed).toBe(true);
}

it("closes a connection that sends nothing", async () => {
  const api = await started({ headersMs: 50 });
  await expectClosed(await silent(api));
});

it("closes a connection that sends nothing over plain HTTP", async () => {
  const api = await started({ headersMs: 50, tls: "plain" });
  await expectClosed(await silent(api));
});

it("closes a connection that the client ends before the TLS handshake", async () => {
  const api = await started({ headersMs: 60_000 });
  const socket = await silent(api, { allowHalfOpen: true });
  socket.end();
  await expectClosed(socket);
});

it("closes a connection whose TLS handshake is no handshake", async () => {
  const api = await started({ headersMs: 60_000 });
  const socket = await silent(api);
  socket.write("GET / HTTP/1.1\r\n\r\n");
  await expectClosed(socket);
});

it("closes a connection that sends no request after its TLS handshake", async () => {
  const api = await started({ headersMs: 50 });
  const socket = connectTls({ port: api.port, host: "127.0.0.1", rejectUnauthorized: false }).resume();
  socket.on("error", () => undefined);
  await expectClosed(socket);
});

it("stops at once while clients hold connections without a TLS handshake", async () => {
  const api = await startHarness({ clock: fakeClock() }, { headersMs: 600_000, closeMs: 600_000 });
  const held = await Promise.all(Array.from({ length: 20 }, () => silent(api)));
  // The server has accepted all of them once it has answered a later connection.
  expect((await api.get("/info")).status).toBe(200);
  await api.close();
  await Promise.all(held.map(expectClosed));
});

it("answers a client while another client holds as many connections as it can", async () => {
  const api = await started({ headersMs: 600_000, connections: { most: 8, mostPerAddress: 4 } });
  const held = await Promise.all(Array.from({ length: 20 }, () => silent(api)));
  expect((await api.get("/info")).status).toBe(200);
  await Promise.all(held.slice(0, 16).map(expectClosed));
});

it("closes the connection of a client without credentials that does not finish its body", async () => {
  const clock = fakeClock();
  const api = await started({ closeMs: 0 }, { clock });
  const socket = connectTls({ port: api.port, host: "127.0.0.1", rejectUnauthorized: false });
  let answer = "";
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  socket.write(
    "POST /stemcells HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  await expect.poll(() => clock.waiting).toBeGreaterThan(0);
  await clock.advance(20_000);
  await expectClosed(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});
