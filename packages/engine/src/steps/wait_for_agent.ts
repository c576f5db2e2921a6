import { type AgentAddress, AgentSilent } from "../agents/agent.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { currentVm } from "./select.ts";
import { vmOf } from "./words.ts";

export const waitForAgent = rerunStep<AgentAddress>({
  name: "wait_for_agent",
  subject: "vm",
  calls: ["agent ping"],
  status: "waiting for agent",
  line: (instance, { machine }) => `Waiting for the agent on ${machine} '${vmOf(instance)}' to be ready`,
  intent: ({ instance }) => {
    const vm = currentVm(instance);
    return vm === undefined || vm.ready ? undefined : addressOf(vm);
  },
  run: async (agent, context) => {
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
