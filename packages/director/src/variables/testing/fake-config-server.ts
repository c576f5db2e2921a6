import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { AGENT_SERVER, CA } from "@slipway/testkit/certificates";

interface Kept {
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}

/** A config server and its UAA in one, as upstream's Director knows them. What it answers can be replaced. */
export interface FakeConfigServer {
  readonly url: string;
  readonly ca: string;
  /** Newest last. */
  readonly kept: Kept[];
  readonly asked: string[];
  tokens: number;
  /** Answers instead of the server: true when it has. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export const CLIENT = { client_id: "director", client_secret: "CANARY-client-secret" };

export async function fakeConfigServer(): Promise<FakeConfigServer> {
  let count = 0;
  const fake: Omit<FakeConfigServer, "url" | "close"> = {
    ca: CA,
    kept: [],
    asked: [],
    tokens: 0,
    instead: undefined,
  };
  const talk = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    const url = new URL(request.url ?? "", "https://here");
    const answer = (status: number, document: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
    if (url.pathname === "/uaa/oauth/token") {
      const expected = Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString("base64");
      if (request.headers.authorization !== `Basic ${expected}`) return void answer(401, {});
      fake.tokens++;
      return void answer(200, { access_token: `CANARY-token-${fake.tokens}`, expires_in: 3600 });
    }
    fake.asked.push(`${request.method} ${url.pathname}${url.search}`);
    if (fake.instead?.(request, response)) return;
    if (!request.headers.authorization?.startsWith("bearer CANARY-token-")) return void answer(401, {});
    if (request.method === "POST") {
      const { name, type, mode } = JSON.parse(body) as Record<string, string>;
      const before = fake.kept.findLast((one) => one.name === name);
      if (before !== undefined && mode !== "overwrite") return void answer(200, before);
      const made = { id: `id-${++count}`, name: String(name), value: `CANARY-${type}-${count}` };
      fake.kept.push(made);
      return void answer(201, made);
    }
    const id = /\/v1\/data\/(.+)$/.exec(url.pathname)?.[1];
    const found = fake.kept.findLast((one) =>
      id === undefined ? one.name === url.searchParams.get("name") : one.id === id,
    );
    if (found === undefined) return void answer(404, { error: "not here" });
    return void answer(200, id === undefined ? { data: [found] } : found);
  };
  const { certificate: cert, privateKey: key } = AGENT_SERVER;
  const server = createTlsServer({ cert, key, ca: CA }, (request, response) => void talk(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(fake, {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}

/** Returns an address where no server listens. */
export async function unansweredUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `https://127.0.0.1:${port}`;
}
