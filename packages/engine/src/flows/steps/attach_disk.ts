import type { DiskCid, VmCid } from "@slipway/protocol/ids";
import { CpiRefused, type DiskAttached, refusedAs } from "../../clouds/cloud.ts";
import { activeDisk, activeVm, type DiskRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import { type CallIntent, callAbout, freshOptions, optionsOf } from "../calls.ts";
import { newDisk } from "../select.ts";
import { type AnyStep, cloudOf, defineStep, type FlowContext, type Subject } from "../step.ts";

interface Attach extends CallIntent {
  readonly vm: VmCid;
  readonly disk: DiskCid;
}

const attach = (name: StepName, which: (subject: Subject) => DiskRecord | undefined): AnyStep =>
  defineStep<Attach, DiskAttached>({
    name,
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = which(subject);
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
    settle: async (intent, context) => ({ how: "done", outcome: await attachAgain(intent, context) }),
  });

/** The call may have been carried out. A CPI that refuses to attach twice is asked to detach first. */
async function attachAgain(intent: Attach, context: FlowContext): Promise<DiskAttached> {
  const cloud = cloudOf(context, intent.cpi);
  try {
    return await cloud.attachDisk(intent.vm, intent.disk, optionsOf(intent, context));
  } catch (error) {
    if (!(error instanceof CpiRefused) || refusedAs(error, "VMNotFound", "DiskNotFound")) throw error;
  }
  try {
    await cloud.detachDisk(intent.vm, intent.disk, freshOptions(intent, context));
  } catch (error) {
    if (!refusedAs(error, "DiskNotAttached")) throw error;
  }
  return await cloud.attachDisk(intent.vm, intent.disk, freshOptions(intent, context));
}

export const attachDisk = attach("attach_disk", ({ instance }) => activeDisk(instance));
export const attachNewDisk = attach("attach_new_disk", newDisk);
