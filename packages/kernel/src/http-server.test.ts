import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "./clock.ts";
import { Connections, closeServer, connectionLimits, listen, openFiles } from "./http-server.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Setup {
  readonly tls?: boolean;
  readonly most?: number;
  readonly mostPerAddress?: number;
  readonly answer?: Answer;
}

async function serving({ tls = false, most = 100, mostPerAddress = 100, answer }: Setup = {}) {
  const onRequest: Answer = answer ?? ((_, response) => void response.end("ok"));
  const server = tls
    ? createTlsServer({ cert: TEST_CERT, key: TEST_KEY }, onRequest)
    : createServer(onRequest);
  const connections = new Connections({ most, mostPerAddress });
  connections.watch(server);
  await listen(server, "127.0.0.1", 0);
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => closeServer(server, connections, systemClock, 0));
  return { server, connections, port };
}

/** A connection that sends nothing. `localAddress` is any address of 127.0.0.0/8. */
async function silent(port: number, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const closed = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, "close"));

const status = (port: number, localAddress = "127.0.0.1"): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", localAddress, agent: false }, (response) =>
      resolve(response.resume().statusCode ?? 0),
    ).once("error", reject);
  });

describe("connection limits", () => {
  it("replace the oldest connection of an address that sent no request", async () => {
    const { port, connections } = await serving({ mostPerAddress: 2 });
    const [first, second] = [await silent(port), await silent(port)];
    expect(await status(port)).toBe(200);
    await closed(first);
    expect(second.closed).toBe(false);
    expect(connections.size).toBeLessThanOrEqual(2);
  });

  it("spare a kept connection while a connection without any request can be replaced", async () => {
    const { port, connections } = await serving({ mostPerAddress: 3 });
    const kept = await silent(port);
    kept.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(kept, "data");
    const idle = [await silent(port), await silent(port), await silent(port), await silent(port)];
    await Promise.all(idle.slice(0, 2).map(closed));
    expect(kept.closed).toBe(false);
    expect(connections.size).toBe(3);
  });

  it("refuse a connection if every other connection has a request under way", async () => {
    const held: ServerResponse[] = [];
    const { port } = await serving({ mostPerAddress: 2, answer: (_, response) => void held.push(response) });
    const answers = [status(port), status(port)];
    await expect.poll(() => held.length).toBe(2);
    await closed(await silent(port));
    for (const response of held) response.end();
    expect(await Promise.all(answers)).toEqual([200, 200]);
  });

  it("take room from the address with the most connections when the server is full", async () => {
    const { port } = await serving({ most: 4 });
    const crowd = [await silent(port), await silent(port), await silent(port)];
    const alone = await silent(port, "127.0.0.2");
    expect(await status(port, "127.0.0.3")).toBe(200);
    await closed(crowd[0] as Socket);
    expect(alone.closed).toBe(false);
  });

  it("leave most of the free descriptors to the rest of the process", () => {
    expect(connectionLimits(1024, { limit: 70, used: 40 })).toEqual({ most: 7, mostPerAddress: 4 });
    expect(connectionLimits(1024, { limit: 1024, used: 40 })).toEqual({ most: 246, mostPerAddress: 123 });
    expect(connectionLimits(1024, { limit: 1 << 20, used: 40 })).toEqual({ most: 1024, mostPerAddress: 512 });
    expect(connectionLimits(1024, { limit: 40, used: 40 })).toEqual({ most: 4, mostPerAddress: 2 });
  });

  it.runIf(process.platform === "linux")("know the descriptors of this process", () => {
    const files = openFiles();
    expect(files?.used).toBeGreaterThan(2);
    expect(files?.limit).toBeGreaterThan(files?.used ?? 0);
  });
});

describe("closing a server", () => {
  it("ends connections at once whose TLS handshake is not done", async () => {
    const { server, port, connections } = await serving({ tls: true });
    const waiting = await silent(port);
    await expect.poll(() => connections.size).toBe(1);
    await closeServer(server, connections, fakeClock(), 60_000);
    await closed(waiting);
  });

  it("waits for a request under way, and ends it after the grace period", async () => {
    const clock = fakeClock();
    const held: ServerResponse[] = [];
    const { server, port, connections } = await serving({
      answer: (_, response) => void held.push(response),
    });
    const answer = status(port).catch(String);
    await expect.poll(() => held.length).toBe(1);
    let done = false;
    const closing = closeServer(server, connections, clock, 60_000).then(() => {
      done = true;
    });
    await clock.advance(59_999);
    expect(done).toBe(false);
    await clock.advance(1);
    await closing;
    expect(await answer).toContain("hang up");
  });
});

it("a TLS server closes a connection that ends before its handshake is done", async () => {
  const { port, connections } = await serving({ tls: true });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  socket.end();
  socket.resume();
  await closed(socket);
  await expect.poll(() => connections.size).toBe(0);
});
