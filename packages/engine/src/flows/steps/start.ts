import type { AgentAddress } from "../../agents/agent.ts";
import { display } from "../../model/names.ts";
import { activeVm } from "../../model/records.ts";
import { InstanceNotRunning } from "../errors.ts";
import { agentOf, defineStep, type FlowContext } from "../step.ts";

interface Start {
  readonly agent: AgentAddress;
  readonly instance: string;
  readonly watchMs: readonly [low: number, high: number] | null;
}

/** pre-start, start, watch, post-start. */
export const start = defineStep<Start, void>({
  name: "start",
  redo: true,
  intent: ({ instance, watchMs }) => {
    const vm = activeVm(instance);
    if (vm === undefined) return undefined;
    return {
      agent: { agentId: vm.agentId, agentUrl: vm.agentUrl },
      instance: display(instance),
      watchMs,
    };
  },
  run: async (intent, context) => {
    const agent = agentOf(context, intent.agent);
    const ask = { signal: context.signal };
    await agent.runScript("pre-start", {}, ask);
    await agent.start(ask);
    if (intent.watchMs === null) return;
    await watch(intent, intent.watchMs, context);
    await agent.runScript("post-start", {}, ask);
  },
});

/** Looks at once, then as upstream does: after the shorter time, then in ninths up to the longer one. */
async function watch(
  { agent: address, instance }: Start,
  [low, high]: readonly [low: number, high: number],
  context: FlowContext,
): Promise<void> {
  const agent = agentOf(context, address);
  const pause = Math.min(Math.max((high - low) / 9, 1000), 15_000);
  let waited = 0;
  for (;;) {
    const { jobState } = await agent.getState(false, { signal: context.signal });
    if (jobState === "running") return;
    if (waited >= high) throw InstanceNotRunning({ instance, jobState, seconds: Math.round(waited / 1000) });
    const next = waited === 0 ? Math.max(low, 100) : pause;
    await context.clock.sleep(next, context.signal);
    waited += next;
  }
}
