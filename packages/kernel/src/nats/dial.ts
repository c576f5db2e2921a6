import { createConnection, type Socket } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import {
  type ConnectionOptions,
  type NatsConnection,
  NatsConnectionImpl,
  setTransportFactory,
} from "@nats-io/transport-node";
import { NodeTransport, nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js";
import type { Clock } from "../clock.ts";
import { ConnectTimeout, NatsUrlInvalid, WrongServerName } from "./errors.ts";

/** PEM. An empty `ca` means the roots of the system. */
export interface NatsCredentials {
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** A server as the URL names it. */
export interface NatsServer {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Without credentials. */
  readonly name: string;
}

const DEFAULT_PORT = 4222;
/** TCP, greeting and handshake together. */
const GREETING_MS = 8_000;
/** The answer to CONNECT; the library's own timer. */
const CONNECT_MS = 10_000;
/** A dead connection is found out before a Health Monitor misses the second heartbeat. */
const PING_MS = 20_000;

/** Upstream's rule with its dots meant as dots. */
const SERVER_NAME = /^[a-zA-Z0-9*-]*\.nats\.bosh-internal$/;

export function readNatsUrl(text: string): NatsServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "nats:" || url.hostname === "") throw NatsUrlInvalid({ why: "it is not a nats URL" });
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    user: url.username === "" ? undefined : percentDecoded(url.username),
    password: url.password === "" ? undefined : percentDecoded(url.password),
    name: `${url.hostname}:${port}`,
  };
}

/** A name or password as a URL holds it. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw NatsUrlInvalid({ why: "its user or password is not percent-encoded correctly" });
  }
}

/**
 * One connection to one server, mutual TLS always. When it is lost it is not made again: whoever dials decides when,
 * with which certificate, and owns the time in between.
 */
export async function dial(
  server: NatsServer,
  credentials: NatsCredentials,
  clientName: string,
  clock: Clock,
): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new BoundedTransport(clock), dnsResolveFn: nodeResolveHost });
  const tls = {
    cert: credentials.certificate,
    key: credentials.privateKey,
    ...(credentials.ca.trim() !== "" && { ca: credentials.ca }),
    // The library hands these on to node:tls without naming them in its types.
    minVersion: "TLSv1.2",
    checkServerIdentity: (_: string, certificate: PeerCertificate) =>
      // The library leaves the host out when it is an address; upstream checks that as well.
      checkServerIdentity(server.host, certificate) ?? nameProblem(server, certificate),
  };
  const options: ConnectionOptions = {
    servers: [
      server.host.includes(":") ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`,
    ],
    name: clientName,
    tls,
    reconnect: false,
    ignoreClusterUpdates: true,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
    ...(server.user !== undefined && { user: server.user }),
    ...(server.password !== undefined && { pass: server.password }),
  };
  return await NatsConnectionImpl.connect(options);
}

function nameProblem(server: NatsServer, certificate: PeerCertificate): Error | undefined {
  // Several names are an array here, whatever the types say.
  const name: unknown = certificate.subject.CN;
  return typeof name === "string" && SERVER_NAME.test(name)
    ? undefined
    : WrongServerName({ server: server.name });
}

/**
 * The library's transport gives up on a server that never greets, but leaves the socket open. Whoever tries for ever
 * would use up its file descriptors.
 */
class BoundedTransport extends NodeTransport {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  override async connect(...[server, options]: Parameters<NodeTransport["connect"]>): Promise<void> {
    let late = false;
    const cancel = this.#clock.after(GREETING_MS, () => {
      late = true;
      this.socket?.destroy();
    });
    try {
      await super.connect(server, options);
    } catch (error) {
      if (!late) throw error;
      throw ConnectTimeout({ server: `${server.hostname}:${server.port}`, ms: GREETING_MS });
    } finally {
      cancel();
    }
  }

  /** Known from the first moment on, so that a connection that is never made ends in time as well. */
  override dial(server: { readonly hostname: string; readonly port: number }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(server.port, server.hostname);
      this.socket = socket;
      socket.setNoDelay(true);
      const failed = (error?: Error) => reject(error ?? new Error("the connection was closed"));
      const closed = () => failed();
      socket.once("error", failed);
      socket.once("close", closed);
      socket.once("connect", () => {
        socket.off("error", failed);
        socket.off("close", closed);
        resolve(socket);
      });
    });
  }
}
