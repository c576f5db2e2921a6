import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createSecureContext, type TLSSocket } from "node:tls";
import { CA, DIRECTOR, NATS_SERVER } from "@slipway/testkit/certificates";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../clock.ts";
import { HttpClient } from "./client.ts";
import { undiciWire } from "./undici-wire.ts";

/** A server that notes of each connection whether it went on from an earlier one. */
async function serving(pair = NATS_SERVER, port = 0) {
  const resumed: boolean[] = [];
  const { certificate: cert, privateKey: key } = pair;
  const server: Server = createServer({ cert, key, ca: CA, requestCert: true, rejectUnauthorized: true });
  server.on("secureConnection", (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
  server.on("request", (_, response) => response.end("here"));
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { resumed, port: (server.address() as AddressInfo).port, close };
}

const newContext = () =>
  createSecureContext({
    ca: CA,
    cert: DIRECTOR.certificate,
    key: DIRECTOR.privateKey,
    minVersion: "TLSv1.2",
  });

/** A client without connections that are kept, and whom it was shown. */
function clientOf(port: number) {
  const shown: string[] = [];
  const given = { context: newContext(), refuses: false };
  const client = new HttpClient({
    origin: `https://127.0.0.1:${port}`,
    clock: systemClock,
    wire: undiciWire,
    tls: () =>
      Promise.resolve({
        secureContext: given.context,
        checkServerIdentity: (_: string, { subject }) => {
          shown.push(String(subject.CN));
          return given.refuses ? new Error("not the one") : undefined;
        },
      }),
  });
  onTestFinished(() => client.close());
  const ask = async () => await (await client.request({ method: "GET", path: "/", withinMs: 60_000 })).text();
  return { ask, shown, given };
}

it("a connection goes on from the one before it, and the peer proves now and then only who it is", async () => {
  const { resumed, port } = await serving();
  const { ask, shown } = clientOf(port);
  for (let nth = 0; nth < 103; nth += 1) expect(await ask()).toBe("here");
  expect(resumed.flatMap((one, at) => (one ? [] : [at]))).toEqual([0, 101]);
  expect(shown).toHaveLength(2);
});

it("authenticates again with another context, or with another peer at the address", async () => {
  const first = await serving();
  const { ask, shown, given } = clientOf(first.port);
  await ask();
  await ask();
  expect(first.resumed).toEqual([false, true]);
  given.context = newContext();
  await ask();
  expect(first.resumed).toEqual([false, true, false]);
  await first.close();
  const second = await serving(NATS_SERVER, first.port);
  given.refuses = true;
  await expect(ask()).rejects.toThrow("not the one");
  expect({ shown: shown.length, resumed: second.resumed.filter(Boolean) }).toEqual({ shown: 3, resumed: [] });
});
