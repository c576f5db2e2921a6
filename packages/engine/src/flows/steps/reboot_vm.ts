import type { VmCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeVm } from "../../model/records.ts";
import { type CallIntent, callAbout, optionsOf } from "../calls.ts";
import { agentOf, cloudOf, defineStep } from "../step.ts";

interface Reboot extends CallIntent {
  readonly vm: VmCid;
  readonly agent: AgentAddress;
}

/** Through the cloud, for a VM whose agent need not answer; until it does. Its agent mounts its disks by itself. */
export const rebootVm = defineStep<Reboot, void>({
  name: "reboot_vm",
  redo: true,
  intent: ({ instance }, context) => {
    const vm = activeVm(instance);
    if (vm === undefined) return undefined;
    const agent = { agentId: vm.agentId, agentUrl: vm.agentUrl };
    return { ...callAbout(vm, context), vm: vm.cid, agent };
  },
  run: async (intent, context) => {
    await cloudOf(context, intent.cpi).rebootVm(intent.vm, optionsOf(intent, context));
    await agentOf(context, intent.agent).waitUntilReady({
      withinMs: context.settings.agentWaitMs,
      signal: context.signal,
    });
  },
});
