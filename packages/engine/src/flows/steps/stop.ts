import type { AgentAddress } from "../../agents/agent.ts";
import { activeVm } from "../../model/records.ts";
import { answers } from "../select.ts";
import { agentOf, defineStep } from "../step.ts";

interface Stop {
  readonly agent: AgentAddress;
  readonly drain: "shutdown" | "update" | "skip";
}

/** pre-stop, drain, stop, post-stop. Stopping what is stopped is harmless. */
export const stop = defineStep<Stop, void>({
  name: "stop",
  redo: true,
  intent: (subject) => {
    const { instance, plan } = subject;
    const vm = activeVm(instance);
    if (vm === undefined || !answers(vm, subject)) return undefined;
    const inPlace = plan.action === "update" && !plan.changes.some(({ kind }) => kind === "persistent_disk");
    return {
      agent: { agentId: vm.agentId, agentUrl: vm.agentUrl },
      drain: plan.skipDrain ? "skip" : inPlace ? "update" : "shutdown",
    };
  },
  run: async ({ agent: address, drain }, context) => {
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    if (drain !== "skip") {
      await agent.runScript("pre-stop", {}, ask);
      await agent.drain(drain, {}, ask);
    }
    await agent.stop(ask);
    await agent.runScript("post-stop", {}, ask);
  },
});
