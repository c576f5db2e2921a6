import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../agents/agent.ts";
import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { isAgentResponsive, newVm } from "./select.ts";
import { fullSpec } from "./spec.ts";
import type { Step, StepSubject } from "./step.ts";

interface PrepareJobs {
  readonly agent: AgentAddress;
  readonly instance: InstanceRecord;
  readonly spec: JsonObject;
}

/**
 * Has an agent fetch and unpack what it will apply, before anything is stopped: the transfer is no downtime, and a failed
 * fetch fails the task while the old jobs still run.
 */
const prepare = (
  name: string,
  what: "jobs" | "packages",
  which: (subject: StepSubject) => VmRecord | undefined,
): Step<StepSubject> =>
  rerunStep<PrepareJobs>({
    name,
    subject: "instance",
    calls: ["agent prepare"],
    intent: (subject, context) => {
      const vm = which(subject);
      if (vm?.ready !== true || !isAgentResponsive(vm, subject) || context.jobs?.prepare === undefined)
        return undefined;
      return {
        agent: addressOf(vm),
        instance: subject.instance,
        spec: fullSpec(subject, context.deployment),
      };
    },
    run: async ({ agent: address, instance, spec }, context) => {
      const to = { what, agentId: address.agentId, agent: agentOf(context, address), spec };
      await context.jobs?.prepare?.(instance, to, context.signal);
    },
  });

export const prepareJobs = prepare("prepare_jobs", "jobs", ({ instance }) => activeVm(instance));

/** For a VM that takes over later. Its jobs are not sent: they may be rendered again with what is known by then. */
export const preparePackages = prepare("prepare_packages", "packages", ({ instance }) => newVm(instance));
