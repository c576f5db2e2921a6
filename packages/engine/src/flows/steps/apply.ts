import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeVm } from "../../model/records.ts";
import { fullSpec } from "../spec.ts";
import { agentOf, defineStep } from "../step.ts";

interface Apply {
  readonly agent: AgentAddress;
  readonly spec: JsonObject;
}

export const apply = defineStep<Apply, void>({
  name: "apply",
  redo: true,
  intent: (subject, context) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined) return undefined;
    return {
      agent: { agentId: vm.agentId, agentUrl: vm.agentUrl },
      spec: fullSpec(subject, context.deployment),
    };
  },
  run: ({ agent, spec }, context) => agentOf(context, agent).apply(spec, { signal: context.signal }),
});
