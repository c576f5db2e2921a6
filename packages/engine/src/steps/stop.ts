import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../agents/agent.ts";
import type { Action } from "../model/goal.ts";
import { activeVm } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { isAgentResponsive } from "./select.ts";
import { nextSpec } from "./spec.ts";
import type { StepSubject } from "./step.ts";
import { nameOf } from "./words.ts";

interface Stop {
  readonly agent: AgentAddress;
  readonly drain: "shutdown" | "update" | "skip";
  /** Environment of pre-stop scripts: what becomes of the VM, the instance and the deployment. */
  readonly next: Readonly<Record<string, "keep" | "delete">>;
  /** Apply spec for drain scripts: disk, packages and configuration after the stop. */
  readonly spec: JsonObject;
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
    if (vm === undefined || !isAgentResponsive(vm, subject)) return undefined;
    return {
      agent: addressOf(vm),
      drain: goal.skipDrain ? "skip" : runsOn(goal) ? "update" : "shutdown",
      next: {
        BOSH_VM_NEXT_STATE: keeps(KEEPS_VM.has(goal.action)),
        BOSH_INSTANCE_NEXT_STATE: keeps(goal.action !== "delete"),
        BOSH_DEPLOYMENT_NEXT_STATE: keeps(context.deletesDeployment !== true),
      },
      spec: nextSpec(subject, context.deployment),
    };
  },
  run: async ({ agent: address, drain, next, spec }, context) => {
    const agent = agentOf(context, address);
    const ask = { signal: context.signal };
    if (drain !== "skip") {
      await agent.runScript("pre-stop", next, ask);
      await agent.drain(drain, spec, ask);
    }
    await agent.stop(ask);
    await agent.runScript("post-stop", {}, ask);
  },
});

/** True if the jobs run again on the same VM with the same disk. */
const runsOn = ({ action, desired, changes }: StepSubject["goal"]): boolean =>
  action === "update" &&
  desired?.state === "started" &&
  !changes.some(({ kind }) => kind === "persistent_disk");
