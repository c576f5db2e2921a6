import type { VmCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../agents/agent.ts";
import { activeVm } from "../model/records.ts";
import { addressOf, type CallIntent, callAbout, optionsOf } from "./calls.ts";
import { agentOf, cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

interface Reboot extends CallIntent {
  readonly vm: VmCid;
  readonly agent: AgentAddress;
}

/** Through the cloud, for a VM whose agent need not answer; until it does. Its agent mounts its disks by itself. */
export const rebootVm = rerunStep<Reboot>({
  name: "reboot_vm",
  subject: "vm",
  calls: ["cpi reboot_vm", "agent ping"],
  intent: ({ instance }, context) => {
    const vm = activeVm(instance);
    return vm && { ...callAbout(vm, context), vm: vm.cid, agent: addressOf(vm) };
  },
  run: async (intent, context) => {
    await cloudOf(context, intent.cpi).rebootVm(intent.vm, optionsOf(intent, context));
    await agentOf(context, intent.agent).waitUntilReady({
      withinMs: context.settings.agentWaitMs,
      signal: context.signal,
    });
  },
});
