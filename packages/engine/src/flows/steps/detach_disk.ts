import type { DiskCid, VmCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { refusedAs } from "../../clouds/cloud.ts";
import { activeDisk, activeVm, type DiskRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import { type CallIntent, callAbout, optionsOf, withoutDisk } from "../calls.ts";
import { answers, oldDisks } from "../select.ts";
import { type AnyStep, agentOf, cloudOf, defineStep, type Subject } from "../step.ts";

interface Detach extends CallIntent {
  readonly vm: VmCid;
  readonly disk: DiskCid;
  /** Null: it does not answer, nothing is asked of it. */
  readonly agent: AgentAddress | null;
}

/** The agent forgets the disk first: afterwards it could not find it any more. */
const detach = (name: StepName, which: (subject: Subject) => readonly DiskRecord[]): AnyStep =>
  defineStep<Detach, void>({
    name,
    repeats: true,
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = which(subject).find((one) => one.attachedTo !== null && one.attachedTo === vm?.cid);
      if (vm === undefined || disk === undefined) return undefined;
      const agent = answers(vm, subject) ? { agentId: vm.agentId, agentUrl: vm.agentUrl } : null;
      return { ...callAbout(vm, context), vm: vm.cid, disk: disk.cid, agent };
    },
    run: async (intent, context) => {
      if (intent.agent !== null)
        await agentOf(context, intent.agent).removePersistentDisk(intent.disk, { signal: context.signal });
      try {
        await cloudOf(context, intent.cpi).detachDisk(intent.vm, intent.disk, optionsOf(intent, context));
      } catch (error) {
        // That it is not attached is what was wanted; a VM or a disk that is gone holds nothing either.
        if (!refusedAs(error, "DiskNotAttached", "DiskNotFound", "VMNotFound")) throw error;
        context.debug(`disk ${intent.disk} was not attached to ${intent.vm}: taken as detached`);
      }
    },
    record: ({ vm, disk, disks }, _, writes) => {
      writes.updateDisk(disk, { attachedTo: null, hint: null, mounted: false });
      writes.updateVm(vm, { disks: withoutDisk(disks ?? {}, disk) });
    },
  });

const theActive = ({ instance }: Subject) => {
  const disk = activeDisk(instance);
  return disk === undefined ? [] : [disk];
};

export const detachDisk = detach("detach_disk", theActive);
export const detachOldDisk = detach("detach_old_disk", oldDisks);
