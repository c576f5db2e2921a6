import type { DiskCid } from "@slipway/protocol/ids";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeDisk, activeVm } from "../../model/records.ts";
import { newDisk } from "../select.ts";
import { agentOf, defineStep } from "../step.ts";

interface Migrate {
  readonly agent: AgentAddress;
  readonly from: DiskCid;
  readonly to: DiskCid;
}

/** The copy and the change of the active disk are one outcome: nobody sees the one without the other. */
export const migrateDisk = defineStep<Migrate, void>({
  name: "migrate_disk",
  intent: (subject) => {
    const vm = activeVm(subject.instance);
    const from = activeDisk(subject.instance);
    const to = newDisk(subject);
    if (vm === undefined || from === undefined || to === undefined) return undefined;
    return { agent: { agentId: vm.agentId, agentUrl: vm.agentUrl }, from: from.cid, to: to.cid };
  },
  run: ({ agent, from, to }, context) =>
    agentOf(context, agent).migrateDisk(from, to, { signal: context.signal }),
  record: ({ from, to }, _, writes) => {
    writes.switchDisk(to);
    writes.updateDisk(from, { mounted: false });
  },
  // The agent ends with either of them mounted.
  doubt: ({ from, to }, writes) => {
    writes.updateDisk(from, { mounted: false });
    writes.updateDisk(to, { mounted: false });
  },
  settle: async ({ agent: address, from, to }, context) => {
    const agent = agentOf(context, address);
    const mounted = await agent.listDisk({ signal: context.signal });
    // The agent unmounts the old disk as the last thing of a migration.
    const finished = mounted.includes(to) && !mounted.includes(from);
    if (!finished) await agent.migrateDisk(from, to, { signal: context.signal });
    return { how: "done", outcome: undefined };
  },
});
