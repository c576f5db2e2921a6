import { diskCid, vmCid } from "@slipway/protocol/ids";
import * as v from "valibot";
import { CpiRefused, type DiskAttached, refusedAs } from "../clouds/cloud.ts";
import { activeDisk, activeVm, type DiskRecord, type VmRecord } from "../model/records.ts";
import { callAbout, freshOptions, optionsOf, vmCallFields, WITHOUT_CHANNEL } from "./calls.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { callStep } from "./define.ts";
import { newDisk, wantedNamed } from "./select.ts";
import { type Step, type StepSubject, type StepWords, UNDONE } from "./step.ts";
import { diskOf, newDiskOf, toVm } from "./words.ts";

const schema = v.object({ ...vmCallFields, vm: vmCid, disk: diskCid });
type Attach = v.InferOutput<typeof schema>;

const attach = (
  name: string,
  words: Omit<StepWords, "calls"> & { readonly loop?: true },
  which: (subject: StepSubject, vm: VmRecord) => DiskRecord | undefined,
): Step<StepSubject> =>
  callStep<Attach, DiskAttached>({
    ...words,
    name,
    subject: "disk",
    calls: ["cpi attach_disk"],
    version: 2,
    schema,
    upgrade: WITHOUT_CHANNEL,
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = vm && which(subject, vm);
      if (vm === undefined || disk === undefined || disk.attachedTo === vm.cid) return undefined;
      return { ...callAbout(vm, context), vm: vm.cid, disk: disk.cid };
    },
    run: (intent, context) =>
      cloudOf(context, intent.cpi).attachDisk(intent.vm, intent.disk, optionsOf(intent, context)),
    record: ({ vm, disk, disks }, { hint, disks: all }, writes) => {
      writes.updateDisk(disk, { attachedTo: vm, hint: hint ?? null, mounted: false });
      const persistent = { ...disks?.persistent, ...(hint !== undefined && { [disk]: hint }) };
      writes.updateVm(vm, { disks: all ?? { ...disks, persistent } });
    },
    settle: attachAgain,
  });

/** The call may have been carried out. A CPI that refuses to attach twice is asked to detach first. */
async function attachAgain(intent: Attach, context: FlowContext): Promise<DiskAttached | typeof UNDONE> {
  const cloud = cloudOf(context, intent.cpi);
  try {
    return await cloud.attachDisk(intent.vm, intent.disk, optionsOf(intent, context));
  } catch (error) {
    if (!(error instanceof CpiRefused)) throw error;
    if (refusedAs(error, "VMNotFound", "DiskNotFound")) return UNDONE;
  }
  try {
    await cloud.detachDisk(intent.vm, intent.disk, freshOptions(intent, context));
  } catch (error) {
    if (refusedAs(error, "VMNotFound", "DiskNotFound")) return UNDONE;
    if (!refusedAs(error, "DiskNotAttached")) throw error;
  }
  try {
    return await cloud.attachDisk(intent.vm, intent.disk, freshOptions(intent, context));
  } catch (error) {
    // It was detached a moment ago.
    if (error instanceof CpiRefused) return UNDONE;
    throw error;
  }
}

export const attachDisk = attach(
  "attach_disk",
  {
    status: "attaching disk",
    line: (instance, about) => `Attaching disk '${diskOf(instance)}' ${toVm(instance, about)}`,
  },
  ({ instance }) => activeDisk(instance),
);
export const attachNewDisk = attach(
  "attach_new_disk",
  {
    status: "attaching new disk",
    line: (instance, about) => `Attaching disk '${newDiskOf(instance)}' ${toVm(instance, about)}`,
  },
  (subject) => newDisk(subject),
);
export const attachNamedDisk = attach(
  "attach_named_disk",
  { status: "attaching disk", loop: true },
  (subject, vm) => wantedNamed(subject).find(({ attachedTo }) => attachedTo !== vm.cid),
);
