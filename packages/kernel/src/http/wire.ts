import type { Readable } from "node:stream";
import type { PeerCertificate, SecureContext } from "node:tls";

/** Carries requests to one server: Node's own client, or undici's. */
export interface HttpWire {
  /** Resolves when status and headers are there. `trace` says how far it came, also when the signal ends it. */
  send(sent: OutgoingRequest, signal: AbortSignal, trace: Trace): Promise<WireReply>;
  /** Ends all connections. */
  close(): void;
}

export type MakeWire = (target: WireTarget) => HttpWire;

export interface WireTarget {
  /** Protocol, host and port; nothing else of it is looked at. */
  readonly url: URL;
  /** The socket in the file system that is connected to instead. */
  readonly socketPath?: string | undefined;
  /** Asked for each new connection, so that certificates may be renewed. */
  readonly tls: () => Promise<HttpTls>;
  /** How long a connection waits for its next request; undefined when each request has a connection of its own. */
  readonly keepMs?: number | undefined;
}

export interface HttpTls {
  /** PEM of the authorities believed instead of the system's. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /**
   * In place of the three: made once for all that share them. undici's wire then lets a connection go on from the one
   * before it, and the peer proves again who it is now and then only.
   */
  readonly secureContext?: SecureContext | undefined;
  /** The name asked for, when it is not the host's. */
  readonly servername?: string | undefined;
  /** False: whatever certificate the server shows is believed. */
  readonly rejectUnauthorized?: false | undefined;
  /** Instead of comparing the host with the names of the certificate. */
  readonly checkServerIdentity?:
    | ((host: string, certificate: PeerCertificate) => Error | undefined)
    | undefined;
}

export type HttpBody = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface OutgoingRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HttpBody | undefined;
  /** Not over a connection that was kept. */
  readonly fresh: boolean;
}

export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** How far a request came. */
export type RequestPhase = "connecting" | "handshake" | "sent" | "answering";

export interface Trace {
  phase: RequestPhase;
  /** The connection had been used before. */
  reused: boolean;
}

/** Configuration that cannot be used: no connection was tried. */
export class UnusableOptions extends Error {}

/** Keys and certificates are read before anybody is called. */
export function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new UnusableOptions("the request cannot be made", { cause });
  }
}

/** Returns options for `tls.connect`. */
export function tlsOptions(url: URL, tls: HttpTls) {
  const given = Object.entries(tls).filter(([, value]) => value !== undefined);
  return {
    minVersion: "TLSv1.2" as const,
    host: hostOf(url),
    port: portOf(url),
    ...(Object.fromEntries(given) as { [K in keyof HttpTls]: NonNullable<HttpTls[K]> }),
  };
}

/** Node wants an IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

export const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);
