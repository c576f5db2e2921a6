import type { VmCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeVm } from "../../model/records.ts";
import { answers } from "../select.ts";
import { agentOf, defineStep } from "../step.ts";

interface OrphanVm {
  readonly vm: VmCid;
  /** Null: it does not answer. */
  readonly agent: AgentAddress | null;
}

/** The old VM of a create-swap-delete: shut down, kept with its addresses until the clean-up deletes it. */
export const orphanVm = defineStep<OrphanVm, void>({
  name: "orphan_vm",
  intent: (subject) => {
    const { instance, plan } = subject;
    const vm = activeVm(instance);
    const last = plan.desired === undefined;
    if (vm === undefined || (!last && instance.vms.length < 2)) return undefined;
    const agent = answers(vm, subject) ? { agentId: vm.agentId, agentUrl: vm.agentUrl } : null;
    return { vm: vm.cid, agent };
  },
  run: async ({ agent }, context) => {
    if (agent !== null) await agentOf(context, agent).shutdown({ signal: context.signal });
  },
  record: ({ vm }, _, writes) => writes.orphanVm(vm),
});
