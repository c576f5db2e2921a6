import type { VmCid } from "@slipway/protocol/ids";
import { activeVm } from "../../model/records.ts";
import { newVm } from "../select.ts";
import { defineStep } from "../step.ts";

/** From here on the new VM is the instance's. */
export const activateVm = defineStep<{ readonly vm: VmCid }, void>({
  name: "activate_vm",
  inward: true,
  intent: ({ instance }) => {
    const vm = newVm(instance);
    return vm === undefined || activeVm(instance) !== undefined ? undefined : { vm: vm.cid };
  },
  run: () => Promise.resolve(),
  record: ({ vm }, _, writes) => writes.activateVm(vm),
});
