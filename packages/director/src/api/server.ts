import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
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
}

export interface Api {
  readonly port: number;
  /** For connections that are made from now on. */
  useCertificate(tls: Exclude<Tls, "plain">): void;
  /** For requests that are made from now on. */
  useUsers(users: readonly ApiUser[]): void;
  /** Takes no more requests and lets those under way finish. */
  close(): Promise<void>;
}

const TLS_FROM = "TLSv1.2";
const HEADERS_MS = 15_000;
/** Of silence; a running upload is not silent. */
const IDLE_MS = 300_000;
/** Cids and names are long in some clouds. */
const LONGEST_PARAMETER = 4096;

const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

/** BOSH's HTTPS API, not yet listening. */
export function createApi(
  services: Services,
  tls: Tls,
  handler = requestHandler(services),
): FastifyInstance<Server> {
  const app = makeServer(services, tls);
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
  app.addHook("onSend", async (request) => handler.settle(request.raw));
  app.addHook("onResponse", async (request, reply) => handler.answered(request, reply));
  return app;
}

export async function startApi(services: Services, options: ApiOptions): Promise<Api> {
  const handler = requestHandler(services);
  const app = createApi(services, options.tls, handler);
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
      cancel = services.clock.after(options.closeMs ?? 10_000, () => {
        app.server.closeAllConnections();
        resolve();
      });
    });
    await app.close();
    // A server does not wait for who has hung up; what is done for them still needs the store.
    await Promise.race([handler.idle(), late]);
    cancel();
  };
  return {
    port,
    useCertificate: ({ cert, key }) => {
      if (options.tls !== "plain") app.server.setSecureContext({ cert, key, minVersion: TLS_FROM });
    },
    useUsers: handler.useUsers,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function makeServer({ random }: Pick<Services, "random">, tls: Tls): FastifyInstance<Server> {
  const limits = { headersTimeout: HEADERS_MS, maxHeaderSize: 32 << 10, connectionsCheckingInterval: 5000 };
  try {
    return Fastify({
      ...(tls === "plain"
        ? { http: limits }
        : { https: { ...tls, ...limits, minVersion: TLS_FROM, handshakeTimeout: HEADERS_MS } }),
      genReqId: ({ headers }) => requestIdOf(headers, random),
      requestTimeout: 0,
      connectionTimeout: IDLE_MS,
      keepAliveTimeout: 30_000,
      forceCloseConnections: "idle",
      exposeHeadRoutes: false,
      routerOptions: {
        maxParamLength: LONGEST_PARAMETER,
        onBadUrl: (_path, _request, response) =>
          void response.writeHead(400).end("the path cannot be read\n"),
      },
      clientErrorHandler: unreadable,
      frameworkErrors: (_error, _request, reply) =>
        void send(reply, plain(400, "the request cannot be read\n")),
    }) as unknown as FastifyInstance<Server>;
  } catch (cause) {
    throw BadCertificate({}, { cause });
  }
}

/** What is no request ends its connection, which is told: who keeps connections must not ask on this one again. */
function unreadable(error: { readonly code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return;
  const status = UNREADABLE[error.code ?? ""] ?? "400 Bad Request";
  const text = "the request cannot be read\n";
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
