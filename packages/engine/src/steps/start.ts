import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../agents/agent.ts";
import { display } from "../model/names.ts";
import { activeVm } from "../model/records.ts";
import { type DiskOfVm, mountedDisk, mountIfLost } from "./agent-disks.ts";
import { addressOf } from "./calls.ts";
import { agentOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
import { InstanceNotRunning } from "./errors.ts";
import { nameOf } from "./words.ts";

interface Start {
  readonly agent: AgentAddress;
  readonly instance: string;
  readonly watchMs: readonly [low: number, high: number] | null;
  readonly disk: DiskOfVm | undefined;
}

/** pre-start, start, watch, post-start. */
export const start = rerunStep<Start>({
  name: "start",
  subject: "instance",
  calls: ["agent run_script pre-start", "agent start", "agent get_state", "agent run_script post-start"],
  status: "starting jobs",
  line: (instance) => `Waiting for instance '${nameOf(instance)}' to be running`,
  intent: ({ instance, watchMs }) => {
    const vm = activeVm(instance);
    return vm && { agent: addressOf(vm), instance: display(instance), watchMs, disk: mountedDisk(instance) };
  },
  run: async (intent, context) => {
    const agent = agentOf(context, intent.agent);
    const ask = { signal: context.signal };
    // Jobs never run without their disk.
    if (intent.disk !== undefined) await mountIfLost(agent, intent.disk, [], ask, context);
    await agent.runScript("pre-start", {}, ask);
    await agent.start(ask);
    if (intent.watchMs === null) return;
    await watch(intent, intent.watchMs, context);
    await agent.runScript("post-start", {}, ask);
  },
});

/**
 * Looks at once, then as upstream does: after the shorter time, then in ninths up to the longer one. A process that runs
 * must still run after the shorter time: one that ends soon after each start runs now and then, too.
 */
async function watch(
  { agent: address, instance }: Start,
  [low, high]: readonly [low: number, high: number],
  context: FlowContext,
): Promise<void> {
  const agent = agentOf(context, address);
  const pause = Math.min(Math.max((high - low) / 9, 1000), 15_000);
  let waited = 0;
  for (;;) {
    const { jobState, raw } = await agent.getState("problems", { signal: context.signal });
    if (jobState === "running" && (waited >= low || !hasProcesses(raw))) return;
    if (waited >= high) {
      const seconds = Math.round(waited / 1000);
      throw InstanceNotRunning({ instance, jobState, seconds, ...failedProcesses(raw) });
    }
    const next = waited === 0 ? Math.max(low, 100) : pause;
    await context.clock.sleep(next, context.signal);
    waited += next;
  }
}

const hasProcesses = ({ processes }: JsonObject): boolean => Array.isArray(processes) && processes.length > 0;

/** Returns the processes whose own state is not `running`, in the agent's order, and their problems. */
function failedProcesses({ processes }: JsonObject): Record<"failed" | "problems", readonly string[]> {
  const all = Array.isArray(processes) ? processes : [];
  const down = all
    .filter(isObject)
    .filter(({ name, state }) => state !== "running" && typeof name === "string");
  return {
    failed: down.map(({ name }) => String(name)),
    problems: down.flatMap(({ problem }) => (typeof problem === "string" ? [problem] : [])),
  };
}
