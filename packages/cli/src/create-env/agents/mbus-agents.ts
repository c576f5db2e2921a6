import { X509Certificate } from "node:crypto";
import { readAddress } from "@slipway/engine/agents/address";
import type { Agents } from "@slipway/engine/agents/agent";
import { agentClient } from "@slipway/engine/agents/agent-client";
import { makeAgents } from "@slipway/engine/agents/agents";
import { openAgentSecret } from "@slipway/engine/agents/credentials";
import { type ClientIdentity, httpsTransport } from "@slipway/engine/agents/https-transport";
import type { AgentTransport } from "@slipway/engine/agents/transport";
import { type Authority, type Issued, openAuthority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import type { MakeWire } from "@slipway/kernel/http/wire";
import type { Random } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Bus } from "./bus.ts";

export interface EnvAgentsOptions {
  readonly bus: Bus;
  /** `bosh.mbus` of the VM's env, which our certificate is put into. */
  readonly mbus: JsonObject;
  /** Returns the settings of a VM that was made with another address, password or certificate than the current one. */
  readonly made?: ((agentId: string) => MadeWith | undefined) | undefined;
  /** Directory of our authority and secret, which are made when they are needed. */
  readonly keysDir: string;
  readonly directorUuid: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly warn: (line: string) => void;
  /** Opens connections if the VM is not reached directly. */
  readonly wire?: MakeWire | undefined;
}

export interface MadeWith {
  readonly url: URL;
  readonly ca: string | undefined;
}

export type EnvAgents = Agents & { close(): void };

/** Upstream's convention. */
const PORT = 6868;
const CERTIFICATE_DAYS = 730;

export async function openAgents(options: EnvAgentsOptions): Promise<EnvAgents> {
  const { bus, keysDir: dir, clock, random } = options;
  if (bus.kind === "manifest") return agentsAt(bus.url, byManifest(bus.ca), options);
  const authority = await openAuthority({ dir, clock, random });
  if (bus.kind === "password") return agentsAt(bus.url, byAuthority(authority, options), options);
  const secret = await openAgentSecret({ dir, random });
  return makeAgents({ ...options, authority, secret, port: PORT, certificateDays: CERTIFICATE_DAYS });
}

/** How an agent and its caller know each other. */
interface Proofs {
  readonly provenBy: "id" | "address";
  /** `ca`: what the VM at hand was made with. */
  identity(ca: string | undefined): Promise<ClientIdentity>;
  introduce(vm: Parameters<Agents["introduce"]>[0]): ReturnType<Agents["introduce"]>;
}

/** One address and one password, whichever VM is behind it now. */
function agentsAt(url: URL, proofs: Proofs, options: EnvAgentsOptions): EnvAgents {
  const transports = new Map<string, AgentTransport>();
  const transportTo = (agentId: AgentId): AgentTransport => {
    const made = () => options.made?.(agentId);
    const { origin, username, password } = made()?.url ?? url;
    const peer = {
      agentId,
      ...readAddress({ agentId, agentUrl: origin }),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      provenBy: proofs.provenBy,
    };
    return httpsTransport(peer, { ...options, identity: () => proofs.identity(made()?.ca) });
  };
  return {
    transport: "https",
    agent: ({ agentId }) => {
      const transport = transports.get(agentId) ?? transportTo(agentId);
      transports.set(agentId, transport);
      return agentClient(transport, options);
    },
    introduce: (vm) => proofs.introduce(vm),
    urlFor: () => url.origin,
    renewal: () =>
      Promise.reject(new Error("bug: certificates of an environment are renewed by recreating its VM")),
    ready: () => Promise.resolve(),
    signerEnds: () => Number.POSITIVE_INFINITY,
    close: () => {
      for (const transport of transports.values()) transport.close();
      transports.clear();
    },
  };
}

/** The certificate is in the env, as the manifest has it, and bears the address. */
const byManifest = (ca: string): Proofs => ({
  provenBy: "address",
  identity: (made) => Promise.resolve({ ca: made ?? ca }),
  introduce: () =>
    Promise.resolve({ envBosh: {}, certificateUntil: Date.parse(new X509Certificate(ca).validTo) }),
});

function byAuthority(authority: Authority, { directorUuid, mbus }: EnvAgentsOptions): Proofs {
  let client: Promise<Issued> | undefined;
  return {
    provenBy: "id",
    identity: () => {
      client ??= authority.issue({
        commonName: `slipway ${directorUuid}`,
        sans: { dns: [], ips: [] },
        usage: "client",
        days: 1,
      });
      return client;
    },
    introduce: async ({ agentId, ips }) => {
      const issued = await authority.issue({
        commonName: agentId,
        sans: { dns: [agentId], ips },
        usage: "server",
        days: CERTIFICATE_DAYS,
      });
      const { ca, certificate, privateKey, until } = issued;
      const cert = { ca, certificate, private_key: privateKey, client_ca: ca };
      const envBosh: JsonObject = { mbus: { ...mbus, cert } };
      return { envBosh, certificateUntil: until };
    },
  };
}
