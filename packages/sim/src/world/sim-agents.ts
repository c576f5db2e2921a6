import {
  type Agent,
  AgentRefused,
  AgentSilent,
  type AgentState,
  type Agents,
} from "@slipway/engine/agents/agent";
import type { Clock } from "@slipway/kernel/clock";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import type { SimAnswer } from "./sim-agent.ts";

/** How a message reaches the world: directly, or from another process. */
export type AskSim = (agentId: string, method: string, args: readonly unknown[]) => Promise<SimAnswer>;

const YEAR_MS = 365 * 24 * 3_600_000;

/** Agents of the world behind the Director's client for agents. */
export function simAgents(ask: AskSim, clock: Clock): Agents {
  const certificate = () => {
    const until = clock.now() + YEAR_MS;
    return { until, settings: { mbus: { cert: { until } } } };
  };
  return {
    agent: ({ agentId }) => simAgent(agentId, ask),
    introduce: () => {
      const { until, settings } = certificate();
      return Promise.resolve({ envBosh: settings, certificateUntil: until });
    },
    renewal: () => {
      const { until, settings } = certificate();
      return Promise.resolve({ settings, certificateUntil: until });
    },
    urlFor: () => "sim://agent",
  };
}

function simAgent(agentId: string, ask: AskSim): Agent {
  const say = async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    const answer = await ask(agentId, method, args);
    if ("silent" in answer)
      throw new AgentSilent(`agent ${agentId} does not answer ${method}: ${answer.silent}`);
    if ("exception" in answer) throw new AgentRefused(`agent ${agentId}, ${method}: ${answer.exception}`);
    return answer.value;
  };
  const told = async (method: string, ...args: readonly unknown[]): Promise<void> => {
    await say(method, ...args);
  };
  return {
    ping: () => told("ping"),
    waitUntilReady: () => told("ping"),
    getState: async () => stateOf(await say("get_state"), agentId),
    apply: (spec) => told("apply", spec),
    prepare: (spec) => told("prepare", spec),
    start: () => told("start"),
    stop: () => told("stop"),
    drain: (type, spec) => told("drain", type, spec),
    runScript: (name, env) => told("run_script", name, env),
    listDisk: async () => (await say("list_disk")) as readonly string[],
    addPersistentDisk: (cid, hint) => told("add_persistent_disk", cid, hint),
    removePersistentDisk: (cid) => told("remove_persistent_disk", cid),
    mountDisk: (cid) => told("mount_disk", cid),
    unmountDisk: (cid) => told("unmount_disk", cid),
    migrateDisk: (from, to) => told("migrate_disk", from, to),
    updateSettings: (settings) => told("update_settings", settings),
    writeStoreFile: (path, content) => told("write_store_file", { path, content }),
    readStoreFile: async (path) => ((await say("read_store_file", { path })) as { content: string }).content,
    // As the real client: it may be off before it has answered.
    shutdown: () => told("shutdown").catch(unlessSilent),
  };
}

function unlessSilent(error: unknown): void {
  if (!(error instanceof AgentSilent)) throw error;
}

const state = v.looseObject({ job_state: v.string(), networks: v.record(v.string(), v.looseObject({})) });

/** As the real client: what is no state is as good as no answer. */
function stateOf(raw: unknown, agentId: string): AgentState {
  const checked = v.safeParse(state, raw);
  if (!checked.success)
    throw new AgentSilent(
      `agent ${agentId} answers get_state with no state of an agent: ${v.summarize(checked.issues)}`,
    );
  const { job_state: jobState, networks } = checked.output;
  return { jobState, networks: networks as unknown as Networks, raw: checked.output as JsonObject };
}
