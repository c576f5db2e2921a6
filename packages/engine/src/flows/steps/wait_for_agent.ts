import { type AgentAddress, AgentSilent } from "../../agents/agent.ts";
import { currentVm } from "../select.ts";
import { agentOf, defineStep } from "../step.ts";

interface Wait {
  readonly agent: AgentAddress;
}

export const waitForAgent = defineStep<Wait, void>({
  name: "wait_for_agent",
  redo: true,
  intent: ({ instance }) => {
    const vm = currentVm(instance);
    if (vm === undefined || vm.ready) return undefined;
    return { agent: { agentId: vm.agentId, agentUrl: vm.agentUrl } };
  },
  run: async ({ agent }, context) => {
    if (agent.agentUrl === "")
      throw new AgentSilent(
        "the CPI returned no address for any network of the VM, so its agent cannot be reached over HTTPS. Use a manual network, or a CPI that returns the addresses it gave.",
      );
    await agentOf(context, agent).waitUntilReady({
      withinMs: context.settings.agentWaitMs,
      signal: context.signal,
    });
  },
});
