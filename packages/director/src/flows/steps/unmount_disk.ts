import type { DiskCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import { oldDisks } from "../select.ts";
import { type AnyStep, agentOf, defineStep, type Subject } from "../step.ts";

interface Unmount {
  readonly agent: AgentAddress;
  readonly disk: DiskCid;
}

const unmount = (name: StepName, which: (subject: Subject) => readonly DiskRecord[]): AnyStep =>
  defineStep<Unmount, void>({
    name,
    redo: true,
    repeats: true,
    intent: (subject) => {
      const vm = activeVm(subject.instance);
      if (vm === undefined || subject.plan.unresponsive) return undefined;
      const disk = which(subject).find((one) => one.mounted && one.attachedTo === vm.cid);
      if (disk === undefined) return undefined;
      return { agent: { agentId: vm.agentId, agentUrl: vm.agentUrl }, disk: disk.cid };
    },
    run: async ({ agent: address, disk }, context) => {
      const agent = agentOf(context, address);
      const mounted = await agent.listDisk({ signal: context.signal });
      if (mounted.includes(disk)) await agent.unmountDisk(disk, { signal: context.signal });
    },
    record: ({ disk }, _, writes) => writes.updateDisk(disk, { mounted: false }),
  });

const theActive = ({ instance }: Subject) => {
  const disk = activeDisk(instance);
  return disk === undefined ? [] : [disk];
};

export const unmountDisk = unmount("unmount_disk", theActive);
export const unmountOldDisk = unmount("unmount_old_disk", oldDisks);
