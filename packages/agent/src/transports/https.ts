import { createServer, type Server, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { Clock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { Connections, closeServer, connectionLimits, listen } from "@slipway/kernel/http-server";
import type { Log } from "../log.ts";
import type { BlobDirectory } from "./blob-directory.ts";
import { basicAuth, checkPair, percentDecoded } from "./credentials.ts";
import { BusUrlInvalid, CannotListen, RequestFailed } from "./errors.ts";
import { answer } from "./https-answer.ts";
import type { RequestHandler, Transport, TransportCredentials } from "./transport.ts";

export interface HttpsOptions {
  /** `https://user:password@host:port`: where to listen, and who may call. */
  readonly url: string;
  readonly credentials: TransportCredentials;
  /** PEM. When it is given, callers need a certificate of it as well. */
  readonly clientCa?: string;
  readonly blobs: BlobDirectory;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits?: Partial<HttpsLimits>;
}

export interface HttpsLimits {
  readonly largestRequest: number;
  readonly connections: number;
  readonly handshakeMs: number;
  readonly headersMs: number;
  /** A client that neither sends nor takes anything for so long is cut off. */
  readonly idleMs: number;
  /** How long `close` waits for answers under way. */
  readonly closeMs: number;
}

const LIMITS: HttpsLimits = {
  largestRequest: 32 << 20,
  connections: 256,
  handshakeMs: 15_000,
  headersMs: 15_000,
  idleMs: 60_000,
  closeMs: 5_000,
};

export interface HttpsTransport extends Transport {
  /** The port it listens on; 0 before it does. */
  readonly port: number;
}

/** Callers come to the agent. Requests run side by side; heartbeats and alerts have nobody to go to. */
export function httpsTransport(options: HttpsOptions): HttpsTransport {
  const { log, clock } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { host, port, authorized } = readUrl(options.url);
  let clientCa = options.clientCa;
  const server = makeServer(options.credentials, clientCa, limits);
  const connections = new Connections(connectionLimits(limits.connections));

  const serve = (handler: RequestHandler) => {
    const context = { authorized, handler, blobs: options.blobs, clock, ...limits };
    server.on("request", (request, response) => {
      // While closing, a connection that is kept alive would keep the server from ending.
      if (!server.listening) response.setHeader("Connection", "close");
      answer(request, response, context).catch((cause: unknown) => {
        log.error(errorText(RequestFailed({ what: "a request over HTTPS" }, { cause })));
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
    });
    connections.watch(server);
    server.on("tlsClientError", (error) => log.warn(`a TLS handshake failed: ${error.message}`));
  };

  return {
    description: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? 0;
    },
    start: async (handler) => {
      serve(handler);
      await listen(server, host, port).catch((cause: unknown) => {
        throw CannotListen({ host, port }, { cause });
      });
    },
    publish: async () => {},
    rotate: (credentials, newClientCa) => {
      checkPair(credentials);
      clientCa = newClientCa ?? clientCa;
      // For new connections; those under way go on.
      server.setSecureContext(tlsOptions(credentials, clientCa));
      return Promise.resolve();
    },
    close: () => closeServer(server, connections, clock, limits.closeMs),
  };
}

function makeServer(
  credentials: TransportCredentials,
  clientCa: string | undefined,
  limits: HttpsLimits,
): Server {
  checkPair(credentials);
  return createServer({
    ...tlsOptions(credentials, clientCa),
    requestCert: clientCa !== undefined,
    rejectUnauthorized: clientCa !== undefined,
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: limits.handshakeMs,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
    // A blob may take its time as long as it keeps coming; silence has a limit of its own.
    requestTimeout: 0,
    maxHeaderSize: 16 << 10,
  });
}

const tlsOptions = (credentials: TransportCredentials, clientCa: string | undefined) =>
  ({
    cert: credentials.certificate,
    key: credentials.privateKey,
    minVersion: "TLSv1.2",
    ...(clientCa !== undefined && { ca: clientCa }),
  }) satisfies ServerOptions;

function readUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:") throw BusUrlInvalid({ why: "it is not an https URL" });
  // Anybody could call an agent whose name and password are empty.
  if (url.username === "" || url.password === "") throw BusUrlInvalid({ why: "it has no user and password" });
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 443 : Number(url.port),
    authorized: basicAuth(percentDecoded(url.username), percentDecoded(url.password)),
  };
}
