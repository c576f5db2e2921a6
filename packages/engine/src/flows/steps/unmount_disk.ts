import type { DiskCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import type { Writes } from "../journal.ts";
import { answers, oldDisks } from "../select.ts";
import { type AnyStep, agentOf, defineStep, type Subject } from "../step.ts";

interface Unmount {
  readonly agent: AgentAddress;
  readonly disks: readonly DiskCid[];
}

/** The agent is asked what is mounted: the records may have lost sight of it. */
const unmount = (name: StepName, which: (subject: Subject) => readonly DiskRecord[]): AnyStep =>
  defineStep<Unmount, void>({
    name,
    redo: true,
    intent: (subject) => {
      const vm = activeVm(subject.instance);
      if (vm === undefined || !answers(vm, subject)) return undefined;
      const disks = which(subject).flatMap(({ cid, attachedTo }) => (attachedTo === vm.cid ? [cid] : []));
      if (disks.length === 0) return undefined;
      return { agent: { agentId: vm.agentId, agentUrl: vm.agentUrl }, disks };
    },
    run: async ({ agent: address, disks }, context) => {
      const agent = agentOf(context, address);
      const mounted = await agent.listDisk({ signal: context.signal });
      for (const disk of disks)
        if (mounted.includes(disk)) await agent.unmountDisk(disk, { signal: context.signal });
    },
    record: notMounted,
    doubt: (intent, writes) => notMounted(intent, undefined, writes),
  });

/** As far as we know: they are mounted again before they are used, and looked for again before they are detached. */
function notMounted({ disks }: Unmount, _: unknown, writes: Writes): void {
  for (const disk of disks) writes.updateDisk(disk, { mounted: false });
}

const theActive = ({ instance }: Subject) => {
  const disk = activeDisk(instance);
  return disk === undefined ? [] : [disk];
};

export const unmountDisk = unmount("unmount_disk", theActive);
export const unmountOldDisk = unmount("unmount_old_disk", oldDisks);
