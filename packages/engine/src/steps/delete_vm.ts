import { vmCid } from "@slipway/protocol/ids";
import * as v from "valibot";
import { refusedAs } from "../clouds/cloud.ts";
import type { VmRecord } from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";
import { callAbout, freshOptions, optionsOf, vmCallFields, WITHOUT_CHANNEL } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { callStep } from "./define.ts";
import { unusedVm } from "./select.ts";
import { type Step, type StepSubject, type StepWords, UNDONE } from "./step.ts";
import { vmOf } from "./words.ts";

const schema = v.object({ ...vmCallFields, vm: vmCid });

const remove = (
  name: string,
  words: Omit<StepWords, "calls">,
  which: (subject: StepSubject) => VmRecord | undefined,
): Step<StepSubject> =>
  callStep<v.InferOutput<typeof schema>>({
    ...words,
    name,
    subject: "vm",
    calls: ["cpi delete_vm"],
    version: 2,
    schema,
    upgrade: WITHOUT_CHANNEL,
    loop: true,
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
        context.gone?.(intent.vm);
      }
    },
    record: ({ vm }, _, writes) => writes.removeVm(vm),
    event: ({ vm }) => ({ action: "delete", objectType: "vm", objectName: vm }),
    settle: "run",
    inDoubt: async (intent, _, context) => {
      const there = await cloudOf(context, intent.cpi).hasVm(intent.vm, freshOptions(intent, context));
      return there ? UNDONE : undefined;
    },
  });

/** The active VM, and with it whatever an interrupted update has left beside it. */
export const deleteVm = remove(
  "delete_vm",
  { status: "deleting vm", line: (instance, { machine }) => `Deleting ${machine} '${vmOf(instance)}'` },
  ({ instance, goal: { desired } }) => {
    const active = instance.vms.find((vm) => vm.active);
    if (active !== undefined) return active;
    return instance.vms.find((vm) => desired === undefined || !vmSuits(vm, desired));
  },
);

/** A VM that was made and never used: its update was interrupted, and now something else is wanted. */
export const deleteUnusedVm = remove(
  "delete_unused_vm",
  { line: (instance, { machine }) => `Deleting ${machine} '${vmOf(instance)}' of an interrupted run` },
  unusedVm,
);
