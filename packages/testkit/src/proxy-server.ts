import { request as ask, createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

/** A proxy as others run it: it asks for `http://`, and makes tunnels. Whatever name it is given is on this machine. */
export async function proxyServer(options: { readonly password?: string } = {}) {
  const seen: string[] = [];
  const wanted = options.password && `Basic ${Buffer.from(`u:${options.password}`).toString("base64")}`;
  const refused = (headers: IncomingHttpHeaders) =>
    wanted !== undefined && headers["proxy-authorization"] !== wanted;
  const server = createServer((incoming, reply) => {
    const { method = "", url = "", headers } = incoming;
    seen.push(`${method} ${url}`);
    if (refused(headers)) return void reply.writeHead(407).end();
    const { port, pathname } = new URL(url);
    const { "proxy-authorization": _, ...others } = headers;
    const outgoing = ask({ host: "127.0.0.1", port, path: pathname, method, headers: others }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    outgoing.on("error", () => reply.writeHead(502).end());
    incoming.pipe(outgoing);
  });
  const tunnels = new Set<Duplex>();
  server.on("connect", ({ url = "", headers }, client) => {
    tunnels.add(client);
    seen.push(`CONNECT ${url}`);
    client.on("error", () => undefined);
    if (refused(headers)) return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const upstream = connect(Number(url.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
    });
  return { url: `http://127.0.0.1:${port}`, port, seen, close };
}
