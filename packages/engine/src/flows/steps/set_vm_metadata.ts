import type { VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { activeVm } from "../../model/records.ts";
import { type CallIntent, callAbout, optionsOf } from "../calls.ts";
import { vmMetadata } from "../metadata.ts";

import { cloudOf, defineStep } from "../step.ts";

interface SetVmMetadata extends CallIntent {
  readonly vm: VmCid;
  readonly metadata: JsonObject;
}

export const setVmMetadata = defineStep<SetVmMetadata, void>({
  name: "set_vm_metadata",
  redo: true,
  intent: (subject, context) => {
    const vm = activeVm(subject.instance);
    if (vm === undefined) return undefined;
    return { ...callAbout(vm, context), vm: vm.cid, metadata: vmMetadata(subject, context) };
  },
  run: (intent, context) =>
    cloudOf(context, intent.cpi).setVmMetadata(intent.vm, intent.metadata, optionsOf(intent, context)),
});
