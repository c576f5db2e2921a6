import { X509Certificate } from "node:crypto";
import { Agent as Connections, request } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { DetailedPeerCertificate, PeerCertificate } from "node:tls";
import type { AgentId } from "@slipway/protocol/ids";
import { WrongAgent } from "./agent.ts";
import type { HttpAnswer } from "./reply.ts";
import { certificateTrouble, type Phase, type Trouble, troubleOf } from "./trouble.ts";

/** What the Director shows to agents, and whom it believes. */
export interface ClientIdentity {
  /** Without a pair, a password alone says who calls. */
  readonly privateKey?: string;
  readonly certificate?: string;
  readonly ca: string;
}

/** One agent as somebody to connect to. */
export interface Peer {
  readonly agentId: AgentId;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** What its certificate must bear: its id, unless somebody else has made it for an address. */
  readonly provenBy?: "id" | "address";
  readonly connections: Connections;
}

/** Larger than any answer of today's messages. */
export const LARGEST_REPLY = 8 << 20;
/** An idle connection is let go of after so long. */
const IDLE_MS = 10_000;

/**
 * Connections to one agent and nobody else: the identity of who answers is proven when a connection is made, and one
 * shared between agents would carry that proof to the wrong one.
 */
export function connectionsTo(): Connections {
  const connections = new Connections({
    keepAlive: true,
    maxFreeSockets: 1,
    timeout: IDLE_MS,
    // A resumed session is not asked for its identity.
    maxCachedSessions: 0,
  });
  connections.on("free", (socket) => socket.on("data", unasked));
  return connections;
}

/** What comes while nobody asked would be taken for the answer to the next question. */
function unasked(this: Duplex): void {
  this.destroy();
}

export class Lost extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, cause: unknown) {
    super(trouble.what, { cause });
    this.trouble = trouble;
  }
}

/** Somebody answered at length, but no agent would. */
export class TooLong extends Error {}

/** Sends one envelope and reads the answer. `trace` says how far it came, also when the signal ends it. */
export function exchange(
  peer: Peer,
  identity: ClientIdentity,
  envelope: string,
  signal: AbortSignal,
  trace: { phase: Phase },
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const call = request({
      host: peer.host,
      port: peer.port,
      path: "/agent",
      method: "POST",
      agent: peer.connections,
      auth: `${peer.user}:${peer.password}`,
      ...(identity.privateKey !== undefined && { key: identity.privateKey, cert: identity.certificate }),
      ca: identity.ca,
      minVersion: "TLSv1.2",
      checkServerIdentity: (_host, certificate) => identityError(peer, certificate),
      signal,
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(envelope) },
    });
    const fail = (error: Error) => reject(failure(error, peer, trace.phase, call.reusedSocket));
    call.on("error", fail);
    call.on("socket", (socket) => {
      socket.off("data", unasked);
      if (call.reusedSocket) {
        trace.phase = "sent";
        return;
      }
      trace.phase = "connecting";
      socket.once("connect", () => {
        trace.phase = "handshake";
      });
      socket.once("secureConnect", () => {
        trace.phase = "sent";
      });
    });
    call.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > LARGEST_REPLY) {
          call.destroy();
          return reject(new TooLong(`more than ${LARGEST_REPLY >> 20} MiB`));
        }
        chunks.push(chunk);
      });
      response.on("error", fail);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers["content-type"] ?? "",
          body: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    call.end(envelope);
  });
}

function failure(error: Error, peer: Peer, phase: Phase, reused: boolean): Error {
  if (error instanceof WrongAgent) return error;
  const wrong = certificateTrouble(error);
  if (wrong === undefined) return new Lost(troubleOf(error, phase, reused), error);
  const message = `${peer.host} port ${peer.port} is not the agent ${peer.agentId}: ${wrong}; see that the address is still that VM's and the clock is right, otherwise recreate the VM`;
  return new WrongAgent(message, { cause: error });
}

/** The certificate of an agent bears its id; its address may be anybody's tomorrow. */
function identityError(peer: Peer, shown: PeerCertificate | DetailedPeerCertificate): Error | undefined {
  const certificate = new X509Certificate(shown.raw);
  const proven =
    peer.provenBy === "address"
      ? isIP(peer.host) === 0
        ? certificate.checkHost(peer.host)
        : certificate.checkIP(peer.host)
      : certificate.checkHost(peer.agentId, { wildcards: false });
  if (proven !== undefined) return undefined;
  const { CN } = shown.subject;
  const who = /^[\w.-]{1,80}$/.test(String(CN)) ? `the one of ${String(CN)}` : "of another name";
  return new WrongAgent(
    `${peer.host} port ${peer.port} is not the agent ${peer.agentId}: its certificate is ${who}; see which VM has this address now, and recreate the one that should`,
  );
}
