import { activeVm, type VmRecord } from "../model/records.ts";
import { type CallIntent, callAbout, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { readyAgent } from "./ready-agent.ts";

interface Reboot extends CallIntent {
  readonly vm: VmRecord;
}

/** Through the cloud, for a VM whose agent need not answer; until it does. Its agent mounts its disks by itself. */
export const rebootVm = rerunStep<Reboot>({
  name: "reboot_vm",
  subject: "vm",
  calls: ["cpi reboot_vm", "agent ping"],
  intent: ({ instance }, context) => {
    const vm = activeVm(instance);
    return vm && { ...callAbout(vm, context), vm };
  },
  run: async (intent, context) => {
    await cloudOf(context, intent.cpi).rebootVm(intent.vm.cid, optionsOf(intent, context));
    await readyAgent(intent.vm, context);
  },
});
