import type { AgentAddress } from "../agents/agent.ts";
import { activeVm } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { answers } from "./select.ts";
import { nameOf } from "./words.ts";

interface Stop {
  readonly agent: AgentAddress;
  readonly drain: "shutdown" | "update" | "skip";
}

/** pre-stop, drain, stop, post-stop. Stopping what is stopped is harmless. */
export const stop = rerunStep<Stop>({
  name: "stop",
  subject: "instance",
  calls: ["agent run_script pre-stop", "agent drain", "agent stop", "agent run_script post-stop"],
  drainCalls: ["agent run_script pre-stop", "agent drain"],
  status: "stopping jobs",
  line: (instance) => `Stopping jobs on instance '${nameOf(instance)}'`,
  intent: (subject) => {
    const { instance, goal } = subject;
    const vm = activeVm(instance);
    if (vm === undefined || !answers(vm, subject)) return undefined;
    const inPlace = goal.action === "update" && !goal.changes.some(({ kind }) => kind === "persistent_disk");
    return { agent: addressOf(vm), drain: goal.skipDrain ? "skip" : inPlace ? "update" : "shutdown" };
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
