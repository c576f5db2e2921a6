import { basename, dirname, extname, join } from "node:path";
import type { Agents } from "@slipway/engine/agents/agent";
import { makeAgents } from "@slipway/engine/agents/agents";
import type { AgentSecret } from "@slipway/engine/agents/credentials";
import type { NatsBus } from "@slipway/engine/agents/nats/bus";
import { type CloudsOptions, cpiOfConfig } from "@slipway/engine/clouds/clouds";
import { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import { type EmbeddedCpi, embeddedCpiPort } from "@slipway/engine/clouds/embedded-cpi";
import { ForkServer } from "@slipway/engine/clouds/fork-server";
import type { Authority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { defineError } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Exposition } from "../metrics/exposition.ts";
import { NatsIncomplete } from "../nats/errors.ts";
import type { NatsAuthorities } from "../nats/rotation.ts";
import type { Db } from "../store/schema.ts";

export const NoCpi = defineError<Record<never, never>>({
  code: "DIR-001",
  kind: "operator",
  message: () => "the configuration names no CPI",
  next: "Set cpi.exec_path to the CPI's executable.",
});

interface CloudsGiven extends CloudsOptions {
  readonly config: DirectorConfig;
  /** The CPI in this process, for a configuration without an executable. */
  readonly embeddedCpi: Pick<EmbeddedCpi, "name" | "open"> | undefined;
  readonly clock: Clock;
  /** The program: the fork server stands beside it. */
  readonly script: string | undefined;
  readonly atClose: (close: () => Promise<void>) => void;
}

/** The Director's own CPI, and what a CPI config may name beside it. */
export function openClouds({
  config: { cpi, director },
  embeddedCpi,
  script,
  atClose,
  ...given
}: CloudsGiven): ConfiguredClouds {
  const { clock, random } = given;
  const starter =
    script === undefined
      ? undefined
      : new ForkServer({ program: join(dirname(script), "fork-server.cjs"), clock, random });
  if (starter !== undefined) atClose(() => starter.close());
  const start = starter?.start;
  const here = embeddedCpi && embeddedCpiPort({ ...embeddedCpi, clock });
  const own = cpiOfConfig(
    { cpi },
    {
      clock,
      start,
      embedded: () => {
        if (here === undefined) throw NoCpi({});
        return here;
      },
    },
  );
  return new ConfiguredClouds({
    ...given,
    start,
    own,
    programs: {
      byType: new Map(Object.entries(cpi?.programs ?? {})),
      env: cpi?.env,
      paths: cpi?.exec_path === undefined ? [] : [cpi.exec_path],
      inProcess: new Map(here && embeddedCpi ? [[embeddedCpi.name, here]] : []),
    },
    maxApiVersion: director?.cpi_api_test_max_version,
  });
}

/** Returns the name of the CPI. Without a configured one: upstream's jobs have a directory of their own, others a file. */
export function cpiNameOf(cpi: DirectorConfig["cpi"], embedded = ""): string {
  const { name, exec_path: path } = cpi ?? {};
  if (name !== undefined || path === undefined) return name ?? embedded;
  return /\/jobs\/([^/]+)\/bin\/cpi$/.exec(path)?.[1] ?? basename(path, extname(path));
}

interface OpenAgentsOptions {
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
  const agents = makeAgents({ ...options, port, warn: log, nats: nats?.transportProvider, transport });
  atClose(() => agents.close());
  return { agents, bus: nats?.bus, nats: nats?.authorities, metrics: nats?.metrics };
}
