import type { DiskCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../agents/agent.ts";
import type { Writes } from "../journal/writes.ts";
import { activeVm, type DiskRecord } from "../model/records.ts";
import { addressOf } from "./calls.ts";
import { agentOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { disksToOrphan, isAgentResponsive, theActiveDisk, theNewDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { diskOf, newDiskOf, oldDiskOf } from "./words.ts";

interface Unmount {
  readonly agent: AgentAddress;
  readonly disks: readonly DiskCid[];
}

/**
 * No disk is detached while an agent uses it. The agent is asked what is mounted: the records may have lost sight of it.
 * They say that the disks are not mounted before the agent is asked: they are mounted again before they are used. A new
 * disk is unmounted only where they do not say that it is mounted.
 */
const unmount = (
  name: string,
  words: Omit<StepWords, "calls">,
  which: (subject: StepSubject) => readonly DiskRecord[],
  recorded: "mounted" | "not mounted" = "mounted",
): Step<StepSubject> =>
  rerunStep<Unmount>({
    ...words,
    name,
    subject: "disk",
    calls: ["agent list_disk", "agent unmount_disk"],
    intent: (subject) => {
      const vm = activeVm(subject.instance);
      if (vm === undefined || !isAgentResponsive(vm, subject)) return undefined;
      const disks = which(subject).flatMap(({ cid, attachedTo }) => (attachedTo === vm.cid ? [cid] : []));
      return disks.length === 0 ? undefined : { agent: addressOf(vm), disks };
    },
    ...(recorded === "mounted" && {
      invalidate: ({ disks }: Unmount, writes: Writes) => {
        for (const disk of disks) writes.updateDisk(disk, { mounted: false });
      },
    }),
    run: async ({ agent: address, disks }, context) => {
      const agent = agentOf(context, address);
      const mounted = await agent.listDisk({ signal: context.signal });
      for (const disk of disks)
        if (mounted.includes(disk)) await agent.unmountDisk(disk, { signal: context.signal });
    },
  });

export const unmountDisk = unmount(
  "unmount_disk",
  { status: "unmounting disk", line: (instance) => `Unmounting disk '${diskOf(instance)}'` },
  theActiveDisk,
);
export const unmountOldDisk = unmount(
  "unmount_old_disk",
  { line: (instance) => `Unmounting disk '${oldDiskOf(instance)}'` },
  disksToOrphan,
);
export const unmountNewDisk = unmount(
  "unmount_new_disk",
  { line: (instance) => `Unmounting disk '${newDiskOf(instance)}'` },
  theNewDisk,
  "not mounted",
);
