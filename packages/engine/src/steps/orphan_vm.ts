import { vmCid } from "@slipway/protocol/ids";
import * as v from "valibot";
import { activeVm } from "../model/records.ts";
import { addressOf, agentAddress } from "./calls.ts";
import { agentOf } from "./context.ts";
import { callStep } from "./define.ts";
import { isAgentResponsive } from "./select.ts";

const schema = v.object({
  vm: vmCid,
  /** Null: it does not answer. */
  agent: v.nullable(agentAddress),
});

/** The old VM of a create-swap-delete: shut down, kept with its addresses until the clean-up deletes it. */
export const orphanVm = callStep<v.InferOutput<typeof schema>>({
  name: "orphan_vm",
  subject: "vm",
  calls: ["agent shutdown"],
  status: "leaving old vm to be deleted",
  version: 1,
  schema,
  intent: (subject) => {
    const { instance, goal } = subject;
    const vm = activeVm(instance);
    const last = goal.desired === undefined;
    if (vm === undefined || (!last && instance.vms.length < 2)) return undefined;
    return { vm: vm.cid, agent: isAgentResponsive(vm, subject) ? addressOf(vm) : null };
  },
  run: async ({ agent }, context) => {
    if (agent !== null) await agentOf(context, agent).shutdown({ signal: context.signal });
  },
  record: ({ vm }, _, writes) => writes.orphanVm(vm),
  event: ({ vm }) => ({ action: "orphan", objectType: "vm", objectName: vm }),
  settle: "run",
});
