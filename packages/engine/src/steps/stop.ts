import type { AgentAddress } from "../agents/agent.ts";
import type { Action } from "../model/goal.ts";
import { activeVm } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { answers } from "./select.ts";
import { nameOf } from "./words.ts";

interface Stop {
  readonly agent: AgentAddress;
  readonly drain: "shutdown" | "update" | "skip";
  /** What pre-stop scripts are told of what comes next. */
  readonly next: Readonly<Record<string, "keep" | "delete">>;
  readonly disk: number;
}

const KEEPS_VM: ReadonlySet<Action> = new Set<Action>(["none", "update", "metadata", "stop"]);
const keeps = (does: boolean): "keep" | "delete" => (does ? "keep" : "delete");

/** pre-stop, drain, stop, post-stop. Stopping what is stopped is harmless. */
export const stop = rerunStep<Stop>({
  name: "stop",
  subject: "instance",
  calls: ["agent run_script pre-stop", "agent drain", "agent stop", "agent run_script post-stop"],
  drainCalls: ["agent run_script pre-stop", "agent drain"],
  status: "stopping jobs",
  line: (instance) => `Stopping jobs on instance '${nameOf(instance)}'`,
  intent: (subject, context) => {
    const { instance, goal } = subject;
    const vm = activeVm(instance);
    if (vm === undefined || !answers(vm, subject)) return undefined;
    const inPlace = goal.action === "update" && !goal.changes.some(({ kind }) => kind === "persistent_disk");
    return {
      agent: addressOf(vm),
      drain: goal.skipDrain ? "skip" : inPlace ? "update" : "shutdown",
      next: {
        BOSH_VM_NEXT_STATE: keeps(KEEPS_VM.has(goal.action)),
        BOSH_INSTANCE_NEXT_STATE: keeps(goal.action !== "delete"),
        BOSH_DEPLOYMENT_NEXT_STATE: keeps(context.deletesDeployment !== true),
      },
      disk: goal.desired?.persistentDisk?.size ?? 0,
    };
  },
  run: async ({ agent: address, drain, next, disk }, context) => {
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    if (drain !== "skip") {
      await agent.runScript("pre-stop", next, ask);
      await agent.drain(drain, drain === "update" ? { persistent_disk: disk } : {}, ask);
    }
    await agent.stop(ask);
    await agent.runScript("post-stop", {}, ask);
  },
});
