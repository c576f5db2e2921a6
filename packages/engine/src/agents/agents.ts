import { isIP } from "node:net";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { type Authority, DAY_MS, type Issued } from "../pki/authority.ts";
import { bracketed, reachableIp, readAddress, urlOf } from "./address.ts";
import type { Agent, AgentAddress, Agents } from "./agent.ts";
import { agentClient } from "./agent-client.ts";
import { AGENT_USER, type AgentSecret } from "./credentials.ts";
import { httpsTransport } from "./https-transport.ts";
import type { AgentTransport } from "./transport.ts";

export interface AgentsOptions {
  readonly authority: Authority;
  readonly secret: AgentSecret;
  /** Where agents listen. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly directorUuid: string;
  readonly warn: (line: string) => void;
  /** Of agents' certificates; default a year. */
  readonly certificateDays?: number;
}

/** A Director that was off for months must still reach its agents: a certificate that ended cannot be renewed. */
const CERTIFICATE_DAYS = 365;
const RENEW_BEFORE_MS = 120 * DAY_MS;
const CLIENT_DAYS = 30;
const CLIENT_RENEW_AFTER_DAYS = 20;
/** Peers remembered with their connections; idle connections end by themselves. */
const MOST_PEERS = 1_000;

/** Whether an agent's certificate should be replaced now. */
export const needsRenewal = (until: number, now: number): boolean => until - now < RENEW_BEFORE_MS;

/** Agents over HTTPS with mutual TLS: each has a certificate of its own from the Director's authority. */
export function makeAgents(options: AgentsOptions): Agents & { close(): void } {
  const { authority, secret, port } = options;
  const identity = clientIdentity(options);
  const known = new Map<string, { readonly transport: AgentTransport; readonly agent: Agent }>();

  const certificateFor = (vm: { readonly agentId: AgentId; readonly ips: readonly string[] }) =>
    authority.issue({
      commonName: vm.agentId,
      sans: { dns: [vm.agentId], ips: vm.ips },
      usage: "server",
      days: options.certificateDays ?? CERTIFICATE_DAYS,
    });

  return {
    agent: (address) => {
      const key = `${address.agentId} ${address.agentUrl}`;
      const entry = known.get(key) ?? makeEntry(address);
      // Last used stands last; the first are the ones to forget.
      known.delete(key);
      known.set(key, entry);
      const [oldest] = known.keys();
      // Its connections end by themselves; a message may be under way on one.
      if (known.size > MOST_PEERS && oldest !== undefined) known.delete(oldest);
      return entry.agent;
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
    close: () => {
      for (const { transport } of known.values()) transport.close();
      known.clear();
    },
  };

  function makeEntry(address: AgentAddress) {
    const { agentId } = address;
    const { host, port: at } = readAddress(address);
    const peer = { agentId, host, port: at, user: AGENT_USER, password: secret.passwordFor(agentId) };
    const transport = httpsTransport(peer, { ...options, identity });
    return { transport, agent: agentClient(transport, options) };
  }

  function certOf({ ca, certificate, privateKey }: Issued) {
    return { ca, certificate, private_key: privateKey, client_ca: ca };
  }
}

/** The certificate the Director calls agents with: in memory only, a new one when it is about to end. */
function clientIdentity({ authority, clock, directorUuid }: AgentsOptions): () => Promise<Issued> {
  let current: Promise<Issued> | undefined;
  let renewAt = 0;
  return () => {
    if (current !== undefined && clock.now() < renewAt) return current;
    renewAt = clock.now() + CLIENT_RENEW_AFTER_DAYS * DAY_MS;
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
