import { DAY_MS } from "../pki/authority.ts";
import { transportOf } from "./address.ts";
import type { Agent, AgentAddress, Agents, TransportName } from "./agent.ts";
import { agentClient } from "./agent-client.ts";
import { type HttpsTransportOptions, httpsTransportProvider } from "./https-transport.ts";
import { NatsNotConfigured } from "./nats/errors.ts";
import type { AgentTransport } from "./transport.ts";
import type { TransportProvider } from "./transport-provider.ts";

export interface AgentsOptions extends HttpsTransportOptions {
  readonly warn: (line: string) => void;
  readonly nats?: TransportProvider | undefined;
  /** How agents of new VMs are reached; default HTTPS. */
  readonly transport?: TransportName | undefined;
}

const RENEW_BEFORE_MS = 120 * DAY_MS;
/** Peers remembered, with what makes the next connection to each cheap; idle connections end by themselves. */
const MOST_PEERS = 20_000;

/** Returns true if an agent's certificate should be replaced now. */
export const needsRenewal = (until: number, now: number): boolean => until - now < RENEW_BEFORE_MS;

/** Returns true if the certificate should be replaced and a new one would last longer. */
export const isRenewable = (until: number, now: number, signerEnds: number): boolean =>
  needsRenewal(until, now) && signerEnds - until > DAY_MS;

/** Agents over HTTPS and NATS. Each is reached as its VM's record says. */
export function makeAgents(options: AgentsOptions): Agents & { close(): void } {
  const { nats, transport = "https" } = options;
  const https = httpsTransportProvider(options);
  const known = new Map<string, { readonly transport: AgentTransport; readonly agent: Agent }>();
  const providerNamed = (name: TransportName): TransportProvider | undefined =>
    name === "nats" ? nats : https;
  const providerFor = ({ agentId, agentUrl }: AgentAddress): TransportProvider => {
    const provider = providerNamed(transportOf(agentUrl));
    if (provider === undefined) throw NatsNotConfigured({ agentId, url: agentUrl });
    return provider;
  };

  return {
    transport,
    ready: async () => await providerNamed(transport)?.ready(),
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
    introduce: async (vm, by = transport) => {
      const provider = providerNamed(by);
      if (provider === undefined) throw NatsNotConfigured({ agentId: vm.agentId, url: "nats://" });
      return await provider.introduce(vm);
    },
    urlFor: (networks, by = transport) => providerNamed(by)?.urlFor(networks),
    renewal: ({ agentUrl, ...vm }) => providerFor({ agentId: vm.agentId, agentUrl }).renewal(vm),
    signerEnds: (by) => providerNamed(by)?.signerEnds() ?? Number.POSITIVE_INFINITY,
    close: () => {
      for (const entry of known.values()) entry.transport.close();
      known.clear();
    },
  };

  function makeEntry(address: AgentAddress) {
    const to = providerFor(address).transportTo(address);
    return { transport: to, agent: agentClient(to, options) };
  }
}
