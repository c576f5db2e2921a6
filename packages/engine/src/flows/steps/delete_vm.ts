import type { VmCid } from "@slipway/protocol/ids";
import { refusedAs } from "../../clouds/cloud.ts";
import type { VmRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import { vmSuits } from "../../plan/vms.ts";
import { type CallIntent, callAbout, optionsOf } from "../calls.ts";
import { unusedVm } from "../select.ts";
import { type AnyStep, cloudOf, defineStep, type Subject } from "../step.ts";

interface DeleteVm extends CallIntent {
  readonly vm: VmCid;
}

const remove = (name: StepName, which: (subject: Subject) => VmRecord | undefined): AnyStep =>
  defineStep<DeleteVm, void>({
    name,
    repeats: true,
    intent: (subject, context) => {
      const vm = which(subject);
      return vm === undefined ? undefined : { ...callAbout(vm, context), vm: vm.cid };
    },
    run: async (intent, context) => {
      try {
        await cloudOf(context, intent.cpi).deleteVm(intent.vm, optionsOf(intent, context));
      } catch (error) {
        if (!refusedAs(error, "VMNotFound")) throw error;
        context.debug(`VM ${intent.vm} was gone already`);
      }
    },
    record: ({ vm }, _, writes) => writes.removeVm(vm),
  });

/** The active VM, and with it whatever an interrupted update has left beside it. */
export const deleteVm = remove("delete_vm", ({ instance, plan: { desired } }) => {
  const active = instance.vms.find((vm) => vm.active);
  if (active !== undefined) return active;
  return instance.vms.find((vm) => desired === undefined || !vmSuits(vm, desired));
});

/** A VM that was made and never used: its update was interrupted, and now something else is wanted. */
export const deleteUnusedVm = remove("delete_unused_vm", unusedVm);
