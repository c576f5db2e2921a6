import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import type { Networks } from "@slipway/protocol/settings/networks";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import type { AgentProcess } from "@slipway/testkit/agent-process";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { onTestFinished } from "vitest";
import { type Authority, openAuthority } from "../../pki/authority.ts";
import { agentEnvOf } from "../../steps/env.ts";
import type { Agent } from "../agent.ts";
import { makeAgents } from "../agents.ts";
import { agentSecret } from "../credentials.ts";

export const NETWORKS: Networks = {
  private: { type: "manual", ip: "127.0.0.1", netmask: "255.0.0.0", preconfigured: true },
};

/** An authority in a directory of the test's own. */
export async function testAuthority(): Promise<Authority> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  return await openAuthority({ dir: directory.path, clock: systemClock, random: systemRandom });
}

export interface Introduced {
  readonly machine: AgentMachine;
  readonly agentId: AgentId;
  readonly authority: Authority;
  readonly agents: ReturnType<typeof makeAgents>;
  readonly url: string;
  readonly agent: Agent;
  readonly warnings: string[];
  start(): Promise<AgentProcess>;
}

/** A machine whose settings came from `introduce`, with our agent's program, not yet started. */
export async function introduced(
  bundle: string,
  more: { readonly authority?: Authority; readonly clock?: Clock } = {},
): Promise<Introduced> {
  const machine = await AgentMachine.open({ bundle });
  onTestFinished(() => machine.close());
  const authority = more.authority ?? (await testAuthority());
  const warnings: string[] = [];
  const agents = makeAgents({
    authority,
    secret: agentSecret("5e".repeat(32)),
    port: machine.port,
    clock: more.clock ?? systemClock,
    random: systemRandom,
    directorUuid: systemRandom.uuid(),
    warn: (line) => warnings.push(line),
  });
  onTestFinished(() => agents.close());
  const agentId = systemRandom.uuid() as AgentId;
  const { envBosh } = await agents.introduce({ agentId, ips: ["127.0.0.1"] });
  await machine.offer(
    machine.settings({
      agent_id: agentId,
      mbus: "",
      networks: NETWORKS,
      env: { bosh: { ...agentEnvOf(), ...envBosh } },
    }),
  );
  const url = agents.urlFor(NETWORKS) ?? "";
  const agent = agents.agent({ agentId, agentUrl: url });
  return { machine, agentId, authority, agents, url, agent, warnings, start: () => machine.started() };
}
