import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { Connections, closeServer, connectionLimits, listen } from "@slipway/kernel/http-server";
import { REGISTRY_PORT, REGISTRY_REALM } from "@slipway/protocol/registry/documents";
import { type AddressCheck, loopbackOnly } from "./address-check.ts";
import { answer, type RegistryContext } from "./answer-request.ts";
import { credentialCheck, type User } from "./credentials.ts";
import { BadCertificate, CannotListen, RequestFailed } from "./errors.ts";
import { readBody } from "./read-body.ts";
import type { RegistryReply } from "./routing.ts";
import { RegistryStore } from "./store/store.ts";

export interface RegistryEvent {
  readonly method: string;
  /** The instance; missing when the path names none. */
  readonly id: string | undefined;
  readonly status: number;
}

/** How long a client may take. A slow one loses its connection, not the registry. */
export interface ServerTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long `close` waits for requests under way. */
  readonly closeMs: number;
}

export interface RegistryOptions {
  /** State directory; made if missing. */
  readonly dir: string;
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly users: readonly User[];
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly addressCheck?: AddressCheck;
  /** Largest settings document, in bytes. */
  readonly bodyLimit?: number;
  readonly onRequest?: (event: RegistryEvent) => void;
  /** Called with the error of each request that got a 500. */
  readonly onError?: (error: unknown) => void;
  readonly patience?: Partial<ServerTimeouts>;
  readonly clock?: Clock;
}

export interface Registry {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** How many entries it found when it started. */
  readonly entriesAtStart: number;
  /** Lets requests under way finish, then frees port and directory. */
  close(): Promise<void>;
}

export const DEFAULT_HOST = "127.0.0.1";
const BODY_LIMIT = 16 << 20;
const MOST_CONNECTIONS = 512;
const PATIENCE: ServerTimeouts = { headersMs: 15_000, requestMs: 60_000, closeMs: 10_000 };

export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const credentials = credentialCheck(options.users);
  const clock = options.clock ?? systemClock;
  const patience = { ...PATIENCE, ...options.patience };
  const server = makeServer(options.tls, patience);
  const store = await RegistryStore.open({ dir: options.dir, clock });
  const context: RegistryContext = {
    entries: store,
    credentials,
    addressCheck: options.addressCheck ?? loopbackOnly,
    onError: eachOnce(options.onError ?? (() => {})),
  };
  serve(server, context, options.bodyLimit ?? BODY_LIMIT, options.onRequest ?? (() => {}));
  const connections = new Connections(connectionLimits(MOST_CONNECTIONS));
  connections.watch(server);
  const { host = DEFAULT_HOST, port = REGISTRY_PORT } = options;
  try {
    await listen(server, host, port);
  } catch (cause) {
    await store.close();
    throw CannotListen({ host, port }, { cause });
  }
  const { port: bound } = server.address() as AddressInfo;
  const url = `${options.tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  let closing: Promise<void> | undefined;
  return {
    url,
    port: bound,
    entriesAtStart: store.size,
    close: () => {
      closing ??= closeServer(server, connections, clock, patience.closeMs).then(() => store.close());
      return closing;
    },
  };
}

function makeServer(tls: RegistryOptions["tls"], patience: ServerTimeouts): Server {
  const limits = {
    maxHeaderSize: 16 << 10,
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: Math.min(1000, patience.headersMs),
  };
  const server = tls === undefined ? createServer(limits) : makeTlsServer(tls, limits, patience.headersMs);
  // A client that does not read its reply.
  server.timeout = 2 * patience.requestMs;
  // A client may close its sending half and wait for the answer.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

function makeTlsServer(tls: { cert: string; key: string }, limits: object, handshakeTimeout: number): Server {
  try {
    return createTlsServer({ ...limits, cert: tls.cert, key: tls.key, handshakeTimeout });
  } catch (cause) {
    throw BadCertificate({ where: "tls" }, { cause });
  }
}

function serve(
  server: Server,
  context: RegistryContext,
  bodyLimit: number,
  onRequest: (event: RegistryEvent) => void,
): void {
  const handle = async (request: IncomingMessage, response: ServerResponse, waitsForContinue: boolean) => {
    const method = request.method ?? "";
    let continued = !waitsForContinue;
    const { id, reply } = await answer(
      {
        method,
        target: request.url ?? "",
        authorization: request.headers.authorization,
        peer: request.socket.remoteAddress,
        body: () => {
          if (!continued) response.writeContinue();
          continued = true;
          return readBody(request, bodyLimit);
        },
      },
      context,
    );
    if (reply === undefined) return;
    // A client whose body we never asked for may send it or not: what follows on that connection has no meaning.
    writeHead(response, reply, continued && server.listening);
    if (continued && !request.complete) {
      response.write(reply.text);
      await received(request);
      response.end();
    } else response.end(reply.text);
    // Closing may have begun after the reply promised to keep the connection.
    response.once("finish", () => server.listening || request.socket.end());
    onRequest({ method, id, status: reply.status });
  };
  const start = (waits: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response, waits).catch((cause: unknown) => {
      context.onError(RequestFailed({ method: request.method ?? "" }, { cause }));
      response.destroy();
    });
  };
  server.on("request", start(false));
  server.on("checkContinue", start(true));
}

function writeHead(response: ServerResponse, reply: RegistryReply, keepAlive: boolean): void {
  if (reply.challenge) response.setHeader("WWW-Authenticate", `Basic realm="${REGISTRY_REALM}"`);
  if (!keepAlive) response.setHeader("Connection", "close");
  response.writeHead(reply.status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(reply.text),
  });
}

/**
 * Waits until the client has sent what it wanted to send; the request timeout bounds it. If the exchange ended before
 * that, closing the connection would reset it, and a client that has not read its reply yet would lose it.
 */
function received(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    request.once("end", resolve);
    request.once("close", resolve);
    request.resume();
  });
}

/** All requests of one failed commit share one error; it is told once. */
function eachOnce(tell: (error: unknown) => void): (error: unknown) => void {
  let last: unknown;
  return (error) => {
    if (error !== last) tell(error);
    last = error;
  };
}
