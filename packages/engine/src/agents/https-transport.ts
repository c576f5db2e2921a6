import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import {
  createSecureContext,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
} from "node:tls";
import type { Clock } from "@slipway/kernel/clock";
import {
  basicAuth,
  HttpClient,
  type HttpReply,
  type HttpRequest,
  HttpTrouble,
} from "@slipway/kernel/http/client";
import { undiciWire } from "@slipway/kernel/http/undici-wire";
import type { MakeWire } from "@slipway/kernel/http/wire";
import type { Random } from "@slipway/kernel/random";
import { directorsRequest } from "@slipway/protocol/agent/envelope";
import type { AgentId } from "@slipway/protocol/ids";
import { type Authority, DAY_MS, type Issued } from "../pki/authority.ts";
import { bracketed, reachableIp, readAddress, urlOf } from "./address.ts";
import { AgentRefused, AgentSilent, WrongAgent } from "./agent.ts";
import { AGENT_USER, type AgentSecret } from "./credentials.ts";
import { readHttpReply } from "./reply.ts";
import type { AgentTransport, Delivery } from "./transport.ts";
import {
  certificateProblem,
  failureOfConnection,
  failureOfTimeout,
  startingFailure,
} from "./transport-failure.ts";
import type { TransportProvider, VmToIntroduce } from "./transport-provider.ts";

export interface HttpsTransportOptions {
  readonly authority: Authority;
  readonly secret: AgentSecret;
  /** Port that agents listen on. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly directorUuid: string;
  /** Lifetime of agents' certificates; default one year. */
  readonly certificateDays?: number;
  /** Makes the connections to agents that cannot be reached directly. */
  readonly wire?: MakeWire | undefined;
}

/** A Director that was off for months must still reach its agents: a certificate that ended cannot be renewed. */
const CERTIFICATE_DAYS = 365;
const CLIENT_DAYS = 30;
const CLIENT_RENEW_AFTER_DAYS = 20;

/** Mutual TLS: each agent has a certificate of its own from the Director's authority, and a password. */
export function httpsTransportProvider(options: HttpsTransportOptions): TransportProvider {
  const { authority, secret, port } = options;
  const identity = clientIdentity(options);

  const certificateFor = (vm: VmToIntroduce) =>
    authority.issue({
      commonName: vm.agentId,
      sans: { dns: [vm.agentId], ips: vm.ips },
      usage: "server",
      days: options.certificateDays ?? CERTIFICATE_DAYS,
    });

  return {
    transportTo: (address) => {
      const { agentId } = address;
      const { host, port: at } = readAddress(address);
      const peer = { agentId, host, port: at, user: AGENT_USER, password: secret.passwordFor(agentId) };
      return httpsTransport(peer, { ...options, identity });
    },
    introduce: async (vm) => {
      const issued = await certificateFor(vm);
      const ip = vm.ips.find((one) => isIP(one) !== 0) ?? "0.0.0.0";
      const url = `https://${AGENT_USER}:${secret.passwordFor(vm.agentId)}@${bracketed(ip)}:${port}`;
      return {
        envBosh: { mbus: { urls: [url], cert: certOf(issued) } },
        certificateUntil: issued.until,
      };
    },
    urlFor: (networks) => {
      const ip = reachableIp(networks);
      return ip === undefined ? undefined : urlOf(ip, port);
    },
    renewal: async (vm) => {
      const issued = await certificateFor(vm);
      return { settings: { mbus: { cert: certOf(issued) } }, certificateUntil: issued.until };
    },
    // Agents are called, each by itself.
    ready: () => Promise.resolve(),
    signerEnds: () => authority.ends,
  };

  function certOf({ ca, certificate, privateKey }: Issued) {
    return { ca, certificate, private_key: privateKey, client_ca: ca };
  }
}

/** The certificate the Director calls agents with: in memory only, a new one when it is about to end. */
function clientIdentity({ authority, clock, directorUuid }: HttpsTransportOptions): () => Promise<Issued> {
  let current: Promise<Issued> | undefined;
  let issuedAt = 0;
  return () => {
    const age = clock.now() - issuedAt;
    // Below 0: it was issued while the clock was ahead, and may not be valid yet. Certificates begin a day early.
    const fits = age > -DAY_MS / 2 && age < CLIENT_RENEW_AFTER_DAYS * DAY_MS;
    if (current !== undefined && fits) return current;
    issuedAt = clock.now();
    current = authority.issue({
      commonName: `director ${directorUuid}`,
      sans: { dns: [], ips: [] },
      usage: "client",
      days: CLIENT_DAYS,
    });
    current.catch(() => {
      current = undefined;
    });
    return current;
  };
}

/** Certificate that the Director presents to agents, and the CA it trusts. */
export interface ClientIdentity {
  /** Without a pair, a password alone says who calls. */
  readonly privateKey?: string;
  readonly certificate?: string;
  readonly ca: string;
}

/** Connection details of one agent. */
interface Peer {
  readonly agentId: AgentId;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Subject that the agent's certificate must have: its id, or its address if the certificate was made elsewhere. */
  readonly provenBy?: "id" | "address";
}

interface HttpsTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly directorUuid: string;
  /** Returns the certificate that the Director presents to agents. */
  readonly identity: () => Promise<ClientIdentity>;
  /** Makes the connections to agents that cannot be reached directly. */
  readonly wire?: MakeWire | undefined;
}

/** Larger than any answer of today's messages. */
const LARGEST_REPLY = 8 << 20;
/** How long nothing of a blob may move. */
const BLOB_IDLE_MS = 60_000;
/**
 * A connection is kept so long between messages: a deploy has dozens for each agent, and a handshake costs more than all.
 * Not longer: agents are polled more seldom than that, and thousands of open connections take more memory than all else.
 */
const KEEP_MS = 3_000;

/**
 * Messages to one agent over HTTPS. Its connections are its own: who answers is proven when one is made, and one shared
 * between agents would carry that proof to the wrong one.
 */
export function httpsTransport(peer: Peer, tools: HttpsTools): AgentTransport {
  const client = new HttpClient({
    origin: urlOf(peer.host, peer.port),
    clock: tools.clock,
    wire: tools.wire ?? undiciWire,
    keepMs: KEEP_MS,
    tls: async () => {
      const secureContext = contextOf(await tools.identity());
      return { secureContext, checkServerIdentity: (_host, shown) => identityError(peer, shown) };
    },
  });

  const exchange = async (body: string, withinMs: number, signal: AbortSignal | undefined) => {
    const reply = await client.request({
      method: "POST",
      path: "/agent",
      headers: { "content-type": "application/json", authorization: basicAuth(peer.user, peer.password) },
      body,
      withinMs,
      signal,
      largest: LARGEST_REPLY,
    });
    return {
      status: reply.status,
      contentType: reply.header("content-type") ?? "",
      body: await reply.text(),
    };
  };

  /** Turns connection failures into `AgentSilent`; other errors pass unchanged. */
  const blobFailure = (error: unknown, what: string, signal: AbortSignal | undefined): unknown => {
    if (signal?.aborted) return signal.reason;
    if (!(error instanceof HttpTrouble)) return error;
    const delivery = undelivered(error, peer);
    const why =
      delivery.kind === "failed"
        ? `${delivery.failure.what}; ${delivery.failure.next}`
        : "its answer makes no sense";
    return new AgentSilent(`${nameOf(peer)} ${what}: ${why}`, { cause: error });
  };

  const refusedBlob = async (reply: HttpReply, what: string) => {
    const text = (await reply.text()).slice(0, 200);
    return new AgentRefused(`${nameOf(peer)} ${what}: status ${reply.status} ${text}`);
  };

  const blobRequest = async (
    id: string,
    what: string,
    signal: AbortSignal | undefined,
    request: Omit<HttpRequest, "path">,
  ) => {
    const headers = { ...request.headers, authorization: basicAuth(peer.user, peer.password) };
    const path = `/blobs/${encodeURIComponent(id)}`;
    try {
      return await client.request({ ...request, path, headers, signal, idleMs: BLOB_IDLE_MS });
    } catch (error) {
      throw blobFailure(error, what, signal);
    }
  };

  return {
    name: nameOf(peer),
    send: async ({ method, arguments: args }, withinMs, signal): Promise<Delivery> => {
      const replyTo = `director.${tools.directorUuid}.${peer.agentId}.${tools.random.uuid()}`;
      const envelope = JSON.stringify(directorsRequest(method, args, replyTo));
      try {
        const answer = await exchange(envelope, withinMs, signal);
        const reply = readHttpReply(answer, [peer.password]);
        return reply.kind === "silence" ? { kind: "failed", failure: startingFailure, late: false } : reply;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        return undelivered(error, peer);
      }
    },
    putBlob: async (id, content, withinMs, signal) => {
      const whole = content instanceof Uint8Array;
      const reply = await blobRequest(id, "did not take a blob", signal, {
        method: "PUT",
        headers: whole ? {} : { "content-length": String(content.size) },
        body: whole ? content : content.content,
        withinMs,
        largest: LARGEST_REPLY,
      });
      if (reply.status !== 201) throw await refusedBlob(reply, "did not take a blob");
      await reply.text();
    },
    getBlob: async (id, take, withinMs, signal) => {
      const reply = await blobRequest(id, "did not give a blob", signal, { method: "GET", withinMs });
      if (reply.status !== 200) throw await refusedBlob(reply, "did not give a blob");
      try {
        return await take(reply.body);
      } catch (error) {
        throw blobFailure(error, "did not give a blob", signal);
      } finally {
        reply.discard();
      }
    },
    close: () => client.close(),
  };
}

const contexts = new WeakMap<ClientIdentity, SecureContext>();

/** One for all agents: keys and certificates are read once. */
function contextOf(identity: ClientIdentity): SecureContext {
  const { privateKey: key, certificate: cert, ca } = identity;
  const context = contexts.get(identity) ?? createSecureContext({ key, cert, ca, minVersion: "TLSv1.2" });
  contexts.set(identity, context);
  return context;
}

function undelivered(error: unknown, peer: Peer): Delivery {
  if (!(error instanceof HttpTrouble)) throw error;
  const { kind, cause } = error;
  // Whether the answer has begun makes no difference: it is not there.
  const phase = error.phase === "answering" ? "sent" : error.phase;
  if (kind === "late") return { kind: "failed", failure: failureOfTimeout(phase), late: true };
  if (kind === "too-large") return { kind: "junk", what: `more than ${LARGEST_REPLY >> 20} MiB` };
  if (cause instanceof WrongAgent) throw cause;
  const wrong = certificateProblem(error.code ?? "");
  if (wrong === undefined)
    return { kind: "failed", failure: failureOfConnection({ ...error, phase }), cause, late: false };
  const message = `${peer.host} port ${peer.port} is not the agent ${peer.agentId}: ${wrong}; see that the address is still that VM's and the clock is right, otherwise recreate the VM`;
  throw new WrongAgent(message, { cause });
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

const nameOf = (peer: Peer): string => `agent ${peer.agentId} at ${bracketed(peer.host)}:${peer.port}`;
