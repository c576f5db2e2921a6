import { messageTrail } from "@slipway/kernel/errors";
import { diskCid, vmCid } from "@slipway/protocol/ids";
import type { Disks } from "@slipway/protocol/settings/disks";
import * as v from "valibot";
import { isAgentError } from "../agents/agent.ts";
import { refusedAs } from "../clouds/cloud.ts";
import { activeVm, type DiskRecord } from "../model/records.ts";
import {
  addressOf,
  agentAddress,
  callAbout,
  optionsOf,
  vmCallFields,
  WITHOUT_CHANNEL,
  withoutDisk,
} from "./calls.ts";
import { agentOf, cloudOf, type FlowContext } from "./context.ts";
import { callStep } from "./define.ts";
import { disksToDetach, disksToOrphan, isAgentResponsive, theActiveDisk, theNewDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { diskOf, newDiskOf, oldDiskOf } from "./words.ts";

const schema = v.object({
  ...vmCallFields,
  vm: vmCid,
  disk: diskCid,
  /** Null: it does not answer, nothing is asked of it. */
  agent: v.nullable(agentAddress),
});
type Detach = v.InferOutput<typeof schema>;

/** The agent forgets the disk first: afterwards it could not find it any more. */
const detach = (
  name: string,
  words: Omit<StepWords, "calls">,
  which: (subject: StepSubject) => readonly DiskRecord[],
): Step<StepSubject> =>
  callStep<Detach, Disks | undefined>({
    ...words,
    name,
    subject: "disk",
    calls: ["agent remove_persistent_disk", "cpi detach_disk"],
    version: 2,
    schema,
    upgrade: WITHOUT_CHANNEL,
    loop: true,
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = which(subject).find((one) => one.attachedTo !== null && one.attachedTo === vm?.cid);
      if (vm === undefined || disk === undefined) return undefined;
      const agent = isAgentResponsive(vm, subject) ? addressOf(vm) : null;
      return { ...callAbout(vm, context), vm: vm.cid, disk: disk.cid, agent };
    },
    run: async (intent, context) => {
      if (intent.agent !== null)
        await agentOf(context, intent.agent).removePersistentDisk(intent.disk, { signal: context.signal });
      return await detachIt(intent, context);
    },
    record: ({ vm, disk, disks }, left, writes) => {
      writes.updateDisk(disk, { attachedTo: null, hint: null, mounted: false });
      writes.updateVm(vm, { disks: left ?? withoutDisk(disks ?? {}, disk) });
    },
    settle: "run",
    // The agent was asked before the CPI: its failure now does not say whether the CPI has detached the disk.
    inDoubt: async (intent, error, context) => {
      if (!isAgentError(error)) throw error;
      context.debug(`the agent does not forget disk ${intent.disk}: ${messageTrail(error)}`);
      return await detachIt(intent, context);
    },
  });

async function detachIt(intent: Detach, context: FlowContext): Promise<Disks | undefined> {
  try {
    const cloud = cloudOf(context, intent.cpi);
    return await cloud.detachDisk(intent.vm, intent.disk, optionsOf(intent, context));
  } catch (error) {
    // That it is not attached is what was wanted; a VM or a disk that is gone holds nothing either.
    if (!refusedAs(error, "DiskNotAttached", "DiskNotFound", "VMNotFound")) throw error;
    context.debug(`disk ${intent.disk} was not attached to ${intent.vm}: taken as detached`);
    return undefined;
  }
}

export const detachDisk = detach(
  "detach_disk",
  { status: "detaching disk", line: (instance) => `Detaching disk '${diskOf(instance)}'` },
  theActiveDisk,
);
export const detachOldDisk = detach(
  "detach_old_disk",
  { status: "detaching old disk", line: (instance) => `Detaching disk '${oldDiskOf(instance)}'` },
  disksToOrphan,
);
/** Detaches a disk that was attached and never mounted. It is attached again, so that the CPI returns its location once more. */
export const detachNewDisk = detach(
  "detach_new_disk",
  { status: "detaching new disk", line: (instance) => `Detaching disk '${newDiskOf(instance)}'` },
  theNewDisk,
);
export const detachNamedDisk = detach("detach_named_disk", { status: "detaching disk" }, disksToDetach);
