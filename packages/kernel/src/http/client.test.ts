import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { AGENT_SERVER, CA, DIRECTOR, OTHER_CA } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { socksServer } from "@slipway/testkit/socks-server";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../clock.ts";
import { dialSocks5 } from "../socks5.ts";
import { HttpClient, type HttpClientOptions, type HttpTrouble } from "./client.ts";
import { dialledWire, nodeWire } from "./node-wire.ts";
import { undiciWire } from "./undici-wire.ts";
import type { HttpTls } from "./wire.ts";

async function listening(server: Server, at: { readonly path?: string } = {}): Promise<string> {
  if (at.path === undefined) server.listen(0, "127.0.0.1");
  else server.listen(at.path);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return at.path === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : "http://here";
}

const plain = (talk: RequestListener) => listening(createServer(talk));

async function secure(talk: RequestListener, more: object = {}): Promise<string> {
  const { certificate: cert, privateKey: key } = AGENT_SERVER;
  const origin = await listening(createTlsServer({ cert, key, ca: CA, ...more }, talk));
  return origin.replace("http:", "https:");
}

const failure = (work: Promise<unknown>): Promise<HttpTrouble> =>
  work.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: HttpTrouble) => error,
  );

const GET = { method: "GET", path: "/x" } as const;

const proxy = await socksServer();
afterAll(() => proxy.close());

describe.each([
  ["Node's own wire", nodeWire],
  ["a SOCKS5 proxy", dialledWire((to, signal) => dialSocks5(proxy, to, signal))],
  ["undici", undiciWire],
])("over %s", (name, wire) => {
  function client(origin: string, options: Partial<HttpClientOptions> = {}): HttpClient {
    const made = new HttpClient({ origin, clock: systemClock, wire, ...options });
    onTestFinished(() => made.close());
    return made;
  }

  it("a kept connection is used by the next request after one whose signal was already aborted", async () => {
    let connections = 0;
    const server = createServer((_, response) => response.end("here"));
    server.on("connection", () => {
      connections += 1;
    });
    const kept = client(await listening(server), { keepMs: 60_000 });
    expect(await (await kept.request(GET)).text()).toBe("here");
    const aborted = kept.request({ ...GET, signal: AbortSignal.abort(new Error("not wanted")) });
    await expect(aborted).rejects.toThrow("not wanted");
    expect(await (await kept.request(GET)).text()).toBe("here");
    expect(connections).toBe(1);
  });

  it("a request arrives as it was made, and the answer is told whatever its status", async () => {
    let seen: unknown;
    const origin = await plain((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece: string) => {
        body += piece;
      });
      request.on("end", () => {
        const { method, url, headers } = request;
        seen = {
          method,
          url,
          body,
          length: headers["content-length"],
          own: headers["x-own"],
          host: headers.host,
        };
        response.writeHead(418, { "X-Kind": "Tea" }).end("short and stout");
      });
    });
    const reply = await client(origin).request({
      method: "PUT",
      path: "/a%20b?c=d",
      headers: { "x-own": "1" },
      body: "ünï",
    });
    expect([reply.status, reply.header("x-kind"), await reply.text()]).toEqual([
      418,
      "Tea",
      "short and stout",
    ]);
    const host = new URL(origin).host;
    expect(seen).toEqual({ method: "PUT", url: "/a%20b?c=d", body: "ünï", length: "5", own: "1", host });
  });

  it("bodies are streamed both ways, piece by piece", async () => {
    const origin = await plain((request, response) => void request.pipe(response));
    async function* pieces() {
      for (let at = 0; at < 40; at++) yield Buffer.alloc(1 << 16, at);
    }
    const reply = await client(origin).request({ method: "POST", path: "/", body: pieces() });
    let size = 0;
    for await (const piece of reply.body) size += piece.length;
    expect(size).toBe(40 << 16);
  });

  // What stands between may hear that the connection is cut before it has read the answer.
  it.skipIf(name === "a SOCKS5 proxy")(
    "reads the reply of a server that refuses a body before it has read it",
    async () => {
      const origin = await plain((request, response) => {
        request.resume();
        response.writeHead(507).end("no room");
      });
      async function* pieces() {
        for (let at = 0; at < 64; at++) yield Buffer.alloc(1 << 16);
      }
      const reply = await client(origin).request({ method: "POST", path: "/", body: pieces() });
      expect([reply.status, await reply.text()]).toEqual([507, "no room"]);
    },
  );

  it("a body that cannot be read fails the request with an error of its own", async () => {
    const gone = new Error("the disk is gone");
    const origin = await plain((request) => void request.resume());
    async function* pieces() {
      yield Buffer.from("x");
      throw gone;
    }
    expect(await failure(client(origin).request({ method: "POST", path: "/", body: pieces() }))).toBe(gone);
  });

  it("a socket of the file system is reached", async () => {
    const directory = await temporaryDirectory();
    onTestFinished(directory.remove);
    const socketPath = join(directory.path, "s");
    const origin = await listening(
      createServer((request, response) => void response.end(request.headers.host)),
      { path: socketPath },
    );
    const reply = await client(origin, { socketPath }).request(GET);
    expect(await reply.text()).toBe("here");
  });

  it("authenticates both sides with TLS", async () => {
    const origin = await secure((_request, response) => void response.end("in"), {
      requestCert: true,
      rejectUnauthorized: true,
    });
    const tls = { ca: CA, cert: DIRECTOR.certificate, key: DIRECTOR.privateKey };
    expect(await (await client(origin, { tls }).request(GET)).text()).toBe("in");
    const anonymous = await failure(
      client(origin, { tls: { ca: CA } })
        .request(GET)
        .then((reply) => reply.text()),
    );
    expect(anonymous).toMatchObject({ kind: "broken" });
  });

  it("a certificate of another authority, for another name or for whom the caller does not want is refused", async () => {
    let asked = 0;
    const origin = await secure((_request, response) => {
      asked++;
      response.end("secret");
    });
    const other = await failure(client(origin, { tls: { ca: OTHER_CA } }).request(GET));
    expect(other).toMatchObject({ kind: "broken", phase: "handshake" });
    expect(other.code).toMatch(/SELF_SIGNED|UNABLE_TO/);
    const localhost = origin.replace("127.0.0.1", "localhost");
    const named = await failure(client(localhost, { tls: { ca: CA, servername: "elsewhere" } }).request(GET));
    expect(named.code).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    const unwanted = new Error("not the one");
    const judged = await failure(
      client(origin, { tls: { ca: CA, checkServerIdentity: () => unwanted } }).request(GET),
    );
    expect(judged.cause).toBe(unwanted);
    expect(asked).toBe(0);
  });

  it("believes any certificate with rejectUnauthorized: false, and only that client does", async () => {
    let asked = 0;
    const origin = await secure((_request, response) => {
      asked++;
      response.end("in");
    });
    const refused = async () =>
      expect(await failure(client(origin).request(GET))).toMatchObject({
        kind: "broken",
        phase: "handshake",
      });
    await refused();
    const believing = (tls: HttpTls) => client(origin, { tls: { ...tls, rejectUnauthorized: false } });
    for (const tls of [{}, { ca: OTHER_CA }, { servername: "elsewhere" }])
      expect(await (await believing(tls).request(GET)).text()).toBe("in");
    const kept = client(origin, { tls: { rejectUnauthorized: false }, keepMs: 60_000 });
    for (let time = 0; time < 2; time++) expect(await (await kept.request(GET)).text()).toBe("in");
    await refused();
    expect(asked).toBe(5);
  });

  it("keys that cannot be used are told apart from somebody who cannot be reached", async () => {
    const origin = await secure(() => undefined);
    const error = await failure(client(origin, { tls: { ca: CA, cert: "none", key: "k3y" } }).request(GET));
    expect(error.kind).toBe("unusable");
    expect(error.message).not.toContain("k3y");
  });

  it("names the request without its query and credentials if no server listens", async () => {
    const server = createServer();
    const origin = await listening(server);
    server.close();
    const address = origin.replace("//", "//user:canary@");
    const error = await failure(client(address).request({ method: "GET", path: "/a?token=canary" }));
    expect(error).toMatchObject({ kind: "broken", code: "ECONNREFUSED", phase: "connecting", reused: false });
    expect(error.message).toContain(`GET ${origin}/a: `);
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("canary");
  });

  it.each<[what: string, talk: (response: ServerResponse) => void, phase: string]>([
    ["before the answer", (response) => response.socket?.destroy(), "sent"],
    [
      "in the middle of it",
      (response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => response.socket?.destroy());
      },
      "answering",
    ],
  ])("a connection that is cut %s is no answer", async (_what, talk, phase) => {
    const origin = await plain((_request, response) => talk(response));
    const asked = client(origin)
      .request(GET)
      .then((reply) => reply.text());
    expect(await failure(asked)).toMatchObject({ kind: "broken", phase, code: "ECONNRESET" });
  });

  it("an answer larger than the limit is not read to its end", async () => {
    const origin = await plain((_request, response) => void response.end("x".repeat(100_000)));
    const reply = await client(origin).request({ ...GET, largest: 50_000 });
    const error = await failure(reply.text());
    expect(error).toMatchObject({ kind: "too-large", why: "the answer is larger than 50000 bytes" });
    const whole = await client(origin).request({ ...GET, largest: 100_000 });
    expect(await whole.text()).toHaveLength(100_000);
  });

  it("the deadline is for all of it: an answer that drips ends with it", async () => {
    const clock = fakeClock();
    const origin = await plain((_request, response) => {
      response.writeHead(200).write("drip");
    });
    const reply = await client(origin, { clock }).request({ ...GET, withinMs: 5_000, doing: "asking" });
    const read = failure(reply.text());
    await clock.advance(5_000);
    expect(await read).toMatchObject({
      kind: "late",
      phase: "answering",
      message: "asking: it did not finish within 5 s",
    });
    expect(clock.waiting).toBe(0);
  });

  it("silence ends it, a piece of the answer or of the body begins the time anew", async () => {
    const clock = fakeClock();
    let answer: ServerResponse | undefined;
    const origin = await plain((_request, response) => {
      answer = response;
    });
    const asked = client(origin, { clock }).request({ ...GET, idleMs: 10_000 });
    await expect.poll(() => answer).toBeDefined();
    await clock.advance(9_000);
    answer?.writeHead(200).write("one");
    const reply = await asked;
    const pieces = reply.body[Symbol.asyncIterator]();
    await pieces.next();
    await clock.advance(9_000);
    answer?.write("two");
    await pieces.next();
    const silent = failure(pieces.next());
    await clock.advance(10_000);
    expect(await silent).toMatchObject({ kind: "silent", why: "nothing came for 10 s" });
  });

  it("gives up in time a server that accepts no connection", async () => {
    const clock = fakeClock();
    // It takes connections, and never says a word of TLS.
    const sockets: Socket[] = [];
    const mute = createTcpServer((socket) => void sockets.push(socket.on("error", () => undefined)));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    mute.listen(0, "127.0.0.1");
    await once(mute, "listening");
    const origin = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    const asked = failure(client(origin, { clock }).request({ ...GET, connectMs: 15_000 }));
    await expect.poll(() => sockets.length).toBe(1);
    await clock.advance(15_000);
    expect(await asked).toMatchObject({ kind: "silent", why: "no connection within 15 s" });
  });

  it("an abort ends it with its reason, before the answer, in it, and before it began", async () => {
    const reason = new Error("changed my mind");
    for (const answers of [true, false]) {
      const abort = new AbortController();
      const origin = await plain((_request, response) => {
        if (answers) response.writeHead(200).write("half", () => abort.abort(reason));
        else abort.abort(reason);
      });
      const asked = client(origin).request({ ...GET, signal: abort.signal });
      expect(await failure(asked.then((reply) => reply.text()))).toBe(reason);
    }
    const gone = client("http://127.0.0.1:1").request({ ...GET, signal: AbortSignal.abort(reason) });
    expect(await failure(gone)).toBe(reason);
  });

  describe("connections", () => {
    const counted = async () => {
      const sockets = new Set<Socket>();
      const server = createServer((_request, response) => void response.end("ok"));
      server.on("connection", (socket) => sockets.add(socket));
      return { origin: await listening(server), sockets, server };
    };

    it("are kept between requests when that is wanted, and not otherwise", async () => {
      const { origin, sockets } = await counted();
      const kept = client(origin, { keepMs: 5_000 });
      for (let time = 0; time < 3; time++) await (await kept.request(GET)).text();
      expect(sockets.size).toBe(1);
      await (await kept.request({ ...GET, fresh: true })).text();
      expect(sockets.size).toBe(2);
      const single = client(origin);
      for (let time = 0; time < 2; time++) await (await single.request(GET)).text();
      expect(sockets.size).toBe(4);
    });

    it("carry one request at a time, and end with the client", async () => {
      const { origin, sockets } = await counted();
      const kept = client(origin, { keepMs: 60_000 });
      const replies = await Promise.all([kept.request(GET), kept.request(GET), kept.request(GET)]);
      for (const reply of replies) await reply.text();
      expect(sockets.size).toBe(3);
      kept.close();
      await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
    });

    it("end after their time", async () => {
      const { origin, sockets } = await counted();
      await (await client(origin, { keepMs: 50 }).request(GET)).text();
      await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
    });

    it("replaces kept connections that were closed meanwhile, or marks the failure as one of an old connection", async () => {
      const { origin, sockets, server } = await counted();
      const kept = client(origin, { keepMs: 60_000 });
      for (let time = 1; time <= 3; time++) {
        // What the server has closed just now, this side may not have heard of.
        const reply = await kept.request(GET).catch((error: unknown) => {
          expect(error).toMatchObject({ kind: "broken", code: "ECONNRESET", phase: "sent", reused: true });
          return kept.request(GET);
        });
        expect(await reply.text()).toBe("ok");
        server.closeAllConnections();
      }
      expect(sockets.size).toBe(3);
    });

    it("on which more came than was asked for are not used again", async () => {
      const raw = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const origin = await plain((_request, response) => {
        response.socket?.write(raw("mine") + raw("ghost"));
      });
      const kept = client(origin, { keepMs: 60_000 });
      for (let time = 0; time < 3; time++) expect(await (await kept.request(GET)).text()).toBe("mine");
    });
  });
});
