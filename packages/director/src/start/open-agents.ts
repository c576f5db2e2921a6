import type { Agents } from "@slipway/engine/agents/agent";
import { makeAgents } from "@slipway/engine/agents/agents";
import type { AgentSecret } from "@slipway/engine/agents/credentials";
import type { NatsBus } from "@slipway/engine/agents/nats/bus";
import type { Authority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Exposition } from "../metrics/exposition.ts";
import { NatsIncomplete } from "../nats/errors.ts";
import type { NatsAuthorities } from "../nats/rotation.ts";
import type { Db } from "../store/schema.ts";

export interface OpenAgentsOptions {
  readonly config: DirectorConfig;
  readonly stateDir: string;
  readonly directorUuid: string;
  readonly authority: Authority;
  readonly secret: AgentSecret;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: (line: string) => void;
  readonly onError: (error: unknown) => void;
  readonly atClose: (close: () => Promise<void> | void) => void;
}

const VM_AGENT_PORT = 6868;

/** The ways to agents that the configuration has: HTTPS always, NATS when it is named. */
export async function openAgents(options: OpenAgentsOptions): Promise<{
  readonly agents: Agents;
  readonly bus: NatsBus | undefined;
  readonly nats: NatsAuthorities | undefined;
  readonly metrics: ((into: Exposition) => void) | undefined;
}> {
  const { config, log, atClose } = options;
  const transport = config.agent?.transport ?? "https";
  if (transport === "nats" && config.nats === undefined)
    throw NatsIncomplete({ why: "agent.transport is nats, and `nats` names no server" });
  const lastingFromBirth = config.director?.enable_short_lived_nats_bootstrap_credentials === false;
  const given = config.nats && { ...options, config: config.nats, lastingFromBirth };
  const nats = given && (await (await import("../nats/open.ts")).openNats(given));
  const port = config.agent?.port ?? VM_AGENT_PORT;
  const agents = makeAgents({ ...options, port, warn: log, nats: nats?.way, transport });
  atClose(() => agents.close());
  return { agents, bus: nats?.bus, nats: nats?.authorities, metrics: nats?.metrics };
}
