import { type Agent, AgentRefused, AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import { agentClient } from "@slipway/engine/agents/agent-client";
import { httpsTransport } from "@slipway/engine/agents/https-transport";
import type { AgentId } from "@slipway/protocol/ids";
import type { Tools } from "../../tools.ts";
import { AgentTrouble } from "../errors.ts";

/** Address and credentials of the agent of create-env's VM. */
export interface AgentEndpoint {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Certificate of the agent's authority. */
  readonly ca: string;
}

export type EnvAgent = Agent;

/** Name of the VM, as in the bosh CLI; and as an instance. */
export const ENV_VM = "create-env-vm";
export const ENV_NAME = `${ENV_VM}/0`;
/** Short, because a user waits at the terminal. */
const THERE_MS = 10_000;

/** Talks to it, once it has answered. Its password is in no error. */
export async function withAgentAt<T>(
  endpoint: AgentEndpoint,
  tools: Pick<Tools, "clock" | "random" | "ui" | "stop" | "proxy">,
  work: (agent: EnvAgent) => Promise<T>,
): Promise<T> {
  const { ca, ...peer } = endpoint;
  await tools.proxy.check(tools.stop);
  const transport = httpsTransport(
    { ...peer, agentId: ENV_VM as AgentId, provenBy: "address" },
    {
      clock: tools.clock,
      random: tools.random,
      directorUuid: "slipway",
      identity: () => Promise.resolve({ ca }),
      wire: tools.proxy.wire(),
    },
  );
  const agent = agentClient(transport, { clock: tools.clock, warn: (line) => tools.ui.note(line) });
  const told = (cause: unknown, words: (text: string) => string): unknown => {
    const isOurs = [AgentRefused, AgentSilent, WrongAgent].some((kind) => cause instanceof kind);
    return isOurs && cause instanceof Error ? AgentTrouble({ why: words(cause.message) }) : cause;
  };
  try {
    await agent.ping({ timeoutMs: THERE_MS, signal: tools.stop }).catch((cause: unknown) => {
      throw told(cause, forNoDirector);
    });
    return await work(agent);
  } catch (cause) {
    throw told(cause, (text) => text);
  } finally {
    transport.close();
  }
}

/** Cuts off the advice for a Director's operator. */
const forNoDirector = (text: string): string =>
  (text.split("; ")[0] ?? text).replace("this Director's password", "this password");
