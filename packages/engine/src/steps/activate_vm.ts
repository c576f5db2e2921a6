import type { VmCid } from "@slipway/protocol/ids";
import { activeVm } from "../model/records.ts";
import { recordStep } from "./define.ts";
import { newVm } from "./select.ts";

/** From here on the new VM is the instance's. */
export const activateVm = recordStep<VmCid>({
  name: "activate_vm",
  subject: "vm",
  calls: [],
  intent: ({ instance }) => (activeVm(instance) === undefined ? newVm(instance)?.cid : undefined),
  record: (vm, writes) => writes.activateVm(vm),
});
