import type { VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type CallIntent, callAbout, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { vmMetadata } from "./metadata.ts";
import { currentVm } from "./select.ts";
import { vmOf } from "./words.ts";

interface SetVmMetadata extends CallIntent {
  readonly vm: VmCid;
  readonly metadata: JsonObject;
}

export const setVmMetadata = rerunStep<SetVmMetadata>({
  name: "set_vm_metadata",
  subject: "vm",
  calls: ["cpi set_vm_metadata"],
  line: (instance, { machine }) => `Setting the metadata of ${machine} '${vmOf(instance)}'`,
  intent: (subject, context) => {
    const vm = currentVm(subject.instance);
    return vm && { ...callAbout(vm, context), vm: vm.cid, metadata: vmMetadata(subject, context) };
  },
  run: (intent, context) =>
    cloudOf(context, intent.cpi).setVmMetadata(intent.vm, intent.metadata, optionsOf(intent, context)),
});
