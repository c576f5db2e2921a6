import { createServer as createPlain } from "node:http";
import { createServer as createTls } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { proxyServer } from "@slipway/testkit/proxy-server";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { follow } from "./follow.ts";
import { nodeWire } from "./node-wire.ts";
import { proxiedWire } from "./proxy-wire.ts";

let proxy: Awaited<ReturnType<typeof proxyServer>>;
let servers: Server[];
beforeEach(async () => {
  proxy = await proxyServer({ password: "s3cret" });
  servers = [];
});
afterEach(async () => {
  await proxy.close();
  for (const server of servers) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function fetched(url: string, { password = "s3cret", noProxy = "" } = {}): Promise<string> {
  const address = `http://u:${password}@127.0.0.1:${proxy.port}`;
  const wire = proxiedWire({ http: address, https: address, noProxy }, nodeWire);
  const tls = { ca: TEST_CERT, servername: "localhost" };
  const asked = { method: "GET", withinMs: 30_000 };
  const reply = await follow(new URL(url), asked, { clock: systemClock, wire, tls });
  return `${reply.status} ${await reply.text()}`;
}

it("what is asked with TLS goes through a tunnel, also where a redirect leads", async () => {
  const port = await listening(
    createTls({ cert: TEST_CERT, key: TEST_KEY }, (request, reply) =>
      request.url === "/a"
        ? reply.writeHead(302, { location: `https://b.example:${port}/b` }).end()
        : reply.end("bits"),
    ),
  );
  expect(await fetched(`https://a.example:${port}/a`)).toBe("200 bits");
  expect(proxy.seen).toEqual([`CONNECT a.example:${port}`, `CONNECT b.example:${port}`]);
});

it("what is asked without TLS is asked by the proxy, which alone sees its own password", async () => {
  const headers: object[] = [];
  const port = await listening(
    createPlain((request, reply) => {
      headers.push(request.headers);
      reply.end("bits");
    }),
  );
  expect(await fetched(`http://a.example:${port}/a`)).toBe("200 bits");
  expect(proxy.seen).toEqual([`GET http://a.example:${port}/a`]);
  expect(headers).toEqual([expect.objectContaining({ host: `a.example:${port}` })]);
});

it("a proxy that refuses, or that is away, is named without its password", async () => {
  const refused = await fetched("https://a.example/a", { password: "CANARY" }).catch(String);
  expect(refused).toContain(`the proxy 127.0.0.1:${proxy.port} does not accept the name and the password`);
  await proxy.close();
  const away = await fetched("https://a.example/a", { password: "CANARY" }).catch(String);
  expect(away).toContain(`the proxy 127.0.0.1:${proxy.port} cannot be reached`);
  expect(`${refused}${away}`).not.toContain("CANARY");
});

it("asks servers of no_proxy directly", async () => {
  const port = await listening(createPlain((_, reply) => reply.end("bits")));
  expect(await fetched(`http://localhost:${port}/a`)).toBe("200 bits");
  await fetched("http://a.invalid/a", { noProxy: "a.invalid" }).catch(() => undefined);
  expect(proxy.seen).toEqual([]);
});
