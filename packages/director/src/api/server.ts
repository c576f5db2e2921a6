import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "@slipway/kernel/clock";
import { type ConnectionLimits, Connections, connectionLimits } from "@slipway/kernel/http-server";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify";
import { BadCertificate, CannotListen } from "./errors.ts";
import { plain, type Reply } from "./reply.ts";
import { requestHandler } from "./request-handler.ts";
import { requestIdOf } from "./request-id.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";
import type { ApiUser, Services } from "./services.ts";

/** `plain`: no TLS at all. */
export type Tls = { readonly cert: string; readonly key: string } | "plain";

export interface ApiOptions {
  /** PEM texts. */
  readonly tls: Tls;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long `close` waits for requests under way. Default: 10 s. */
  readonly closeMs?: number;
  /** Time for a TLS handshake, and for the headers of a request. Default: 15 s. */
  readonly headersMs?: number;
  /** Default: 1024, or fewer within the descriptors this process may have; half of them for one address. */
  readonly connections?: ConnectionLimits;
}

export interface Api {
  readonly port: number;
  /** Uses another certificate for new connections. */
  useCertificate(tls: Exclude<Tls, "plain">): void;
  /** Uses other users for new requests. */
  useUsers(users: readonly ApiUser[]): void;
  /** Takes no more requests and lets those under way finish. */
  close(): Promise<void>;
}

const TLS_FROM = "TLSv1.2";
const HEADERS_MS = 15_000;
/** Time for a client to read the answer to what is no request. */
const LAST_ANSWER_MS = 5000;
const MOST_CONNECTIONS = 1024;
/** Longest silence of a connection; a running upload is not silent. */
const IDLE_MS = 300_000;
/** Cids and names are long in some clouds. */
const LONGEST_PARAMETER = 4096;

const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

export async function startApi(services: Services, options: ApiOptions): Promise<Api> {
  const { clock } = services;
  const handler = requestHandler(services);
  const connections = new Connections(options.connections ?? connectionLimits(MOST_CONNECTIONS));
  // Fastify makes a second server where `localhost` has two addresses.
  const servers: Server[] = [];
  const app = makeApp(services, (listener) => {
    const server = makeServer(options, listener);
    connections.watch(server);
    servers.push(server);
    return server;
  });
  addRoutes(app, handler);
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    await app.close();
    throw CannotListen({ host: options.host, port: options.port }, { cause });
  }
  const { port } = app.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = async () => {
    let cancel: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(options.closeMs ?? 10_000, () => {
        connections.endAll();
        resolve();
      });
    });
    const closed = app.close();
    connections.endIdle();
    await closed;
    // A server does not wait for who has hung up; what is done for them still needs the store.
    await Promise.race([handler.idle(), late]);
    cancel();
  };
  return {
    port,
    useCertificate: ({ cert, key }) => {
      if (options.tls === "plain") return;
      for (const server of servers) server.setSecureContext({ cert, key, minVersion: TLS_FROM });
    },
    useUsers: handler.useUsers,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function makeServer({ tls, headersMs = HEADERS_MS }: ApiOptions, listener: RequestListener): Server {
  const limits = {
    headersTimeout: headersMs,
    maxHeaderSize: 32 << 10,
    connectionsCheckingInterval: Math.min(5000, headersMs),
    requestTimeout: 0,
    keepAliveTimeout: 30_000,
  };
  // The methods of a plain server that are used here are those of a TLS server.
  const server =
    tls === "plain"
      ? (createPlainServer(limits, listener) as Server)
      : createServer({ ...limits, ...tls, minVersion: TLS_FROM, handshakeTimeout: headersMs }, listener);
  return server.setTimeout(IDLE_MS);
}

function makeApp(
  { random, clock }: Pick<Services, "random" | "clock">,
  serverFactory: (listener: RequestListener) => Server,
): FastifyInstance<Server> {
  try {
    return Fastify({
      serverFactory,
      genReqId: ({ headers }) => requestIdOf(headers, random),
      forceCloseConnections: "idle",
      exposeHeadRoutes: false,
      routerOptions: {
        maxParamLength: LONGEST_PARAMETER,
        onBadUrl: (_path, _request, response) =>
          void response.writeHead(400).end("the path cannot be read\n"),
      },
      clientErrorHandler: (error: Error & { readonly code?: string }, socket: Socket) =>
        unreadable(error, socket, clock),
      frameworkErrors: (_error, _request, reply) =>
        void send(reply, plain(400, "the request cannot be read\n")),
    }) as unknown as FastifyInstance<Server>;
  } catch (cause) {
    throw BadCertificate({}, { cause });
  }
}

/** Registers every route of the table, and what happens around each request. */
function addRoutes(app: FastifyInstance<Server>, handler: ReturnType<typeof requestHandler>): void {
  // Bodies are read by the endpoints: their routes know what may come and how much.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  for (const variants of byPath(routes)) {
    const { method, path } = variants[0];
    app.route({
      method,
      url: path,
      handler: async (request, reply) => send(reply, await handler.answer(variants, request)),
    });
  }
  app.setNotFoundHandler((_request, reply) => send(reply, plain(404, "not found\n")));
  app.setErrorHandler((error: FastifyError, request, reply) => send(reply, handler.refused(error, request)));
  app.addHook("onRequest", async (request, reply) => void reply.header("x-request-id", request.id));
  app.addHook("onSend", async (request, reply) => {
    await handler.settle(request.raw);
    // Node would go on reading the rest of the body, for as long as the client keeps sending.
    if (!request.raw.complete) reply.header("connection", "close");
  });
  app.addHook("onResponse", async (request, reply) => handler.answered(request, reply));
}

/** Answers what is no HTTP request, and ends its connection, also if the client does not read the answer. */
function unreadable(error: { readonly code?: string }, socket: Socket, clock: Clock): void {
  if (!socket.writable) return void socket.destroy();
  const status = UNREADABLE[error.code ?? ""] ?? "400 Bad Request";
  const text = "the request cannot be read\n";
  const cancel = clock.after(LAST_ANSWER_MS, () => socket.destroy());
  socket.once("close", cancel);
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}

type Variants = readonly [Route, ...Route[]];

/** Routes that differ in their content type only come together. */
function byPath(all: readonly Route[]): readonly Variants[] {
  const found = new Map<string, Variants>();
  for (const route of all) {
    const key = `${route.method} ${route.path}`;
    const before = found.get(key);
    found.set(key, before === undefined ? [route] : [...before, route]);
  }
  return [...found.values()];
}

function send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(body instanceof Uint8Array ? Buffer.from(body) : body);
}
