import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../agents/agent.ts";
import { activeVm } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { fullSpec } from "./spec.ts";
import { nameOf } from "./words.ts";

interface Apply {
  readonly agent: AgentAddress;
  readonly spec: JsonObject;
}

export const apply = rerunStep<Apply>({
  name: "apply",
  subject: "instance",
  calls: ["agent apply"],
  status: "configuring jobs",
  line: (instance) => `Updating instance '${nameOf(instance)}'`,
  intent: (subject, context) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined) return undefined;
    return { agent: addressOf(vm), spec: fullSpec(subject, context.deployment) };
  },
  run: ({ agent, spec }, context) => agentOf(context, agent).apply(spec, { signal: context.signal }),
});
