import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type SocksOptions, socksServer } from "@slipway/testkit/socks-server";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../clock.ts";
import { dialSocks5 } from "../socks5.ts";
import { HttpClient, HttpTrouble } from "./client.ts";
import { dialledWire } from "./node-wire.ts";

async function world(options: SocksOptions = {}) {
  const server = createServer({ cert: TEST_CERT, key: TEST_KEY }, (_, reply) => reply.end("bits"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await socksServer({ names: { "director.inside": port }, ...options });
  const client = new HttpClient({
    origin: "https://director.inside:25555",
    clock: systemClock,
    tls: { ca: TEST_CERT, servername: "localhost" },
    keepMs: 60_000,
    wire: dialledWire((to, signal) => dialSocks5(proxy, to, signal)),
  });
  onTestFinished(async () => {
    client.close();
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });
  const get = (fresh = false) => client.request({ method: "GET", path: "/", fresh, withinMs: 30_000 });
  const text = async (fresh = false) => await (await get(fresh)).text();
  return { proxy, server, text, get };
}

it("connections through a proxy are kept, as others are", async () => {
  const { proxy, text } = await world();
  expect([await text(), await text(), await text(true)]).toEqual(["bits", "bits", "bits"]);
  expect(proxy.seen).toEqual(["director.inside:25555", "director.inside:25555"]);
});

it("a proxy that accepts everything and then hangs up, as ssh does, is told from one who answers badly", async () => {
  const { server, get } = await world();
  server.removeAllListeners("connection");
  server.on("connection", (socket: { destroy(): void }) => socket.destroy());
  const error: unknown = await get().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HttpTrouble);
  expect(error).toMatchObject({
    phase: "handshake",
    code: undefined,
    why: expect.stringContaining("as if nobody were there"),
  });
});
