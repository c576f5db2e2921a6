import type { JsonObject } from "@slipway/protocol/schema/json";
import { type AgentAddress, AgentRefused } from "../agents/agent.ts";
import { activeVm, type InstanceRecord } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { fullSpec } from "./spec.ts";
import { nameOf } from "./words.ts";

interface Apply {
  readonly agent: AgentAddress;
  readonly instance: InstanceRecord;
  readonly spec: JsonObject;
}

/** Brings packages and jobs to the VM and has the agent install them; nothing of them runs yet. */
export const apply = rerunStep<Apply>({
  name: "apply",
  subject: "instance",
  calls: ["agent apply"],
  status: "configuring jobs",
  line: (instance) => `Updating instance '${nameOf(instance)}'`,
  intent: (subject, context) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined) return undefined;
    return { agent: addressOf(vm), instance: subject.instance, spec: fullSpec(subject, context.deployment) };
  },
  run: async ({ agent: address, instance, spec }, context) => {
    const { signal } = context;
    const agent = agentOf(context, address);
    await context.names?.sync(agent, address);
    const prepared = context.jobs?.isPrepared?.(address.agentId) === true;
    const bringAndApply = async () => {
      const jobs = await context.jobs?.deliver(instance, agent, signal);
      await agent.apply({ ...spec, ...jobs }, { signal });
    };
    try {
      await bringAndApply();
    } catch (error) {
      // What the agent had prepared may be gone with the VM's ephemeral disk: then everything is sent.
      if (!prepared || !(error instanceof AgentRefused)) throw error;
      await bringAndApply();
    }
  },
});
