import { diskCid } from "@slipway/protocol/ids";
import * as v from "valibot";
import { activeDisk, activeVm } from "../model/records.ts";
import { addressOf, agentAddress } from "./calls.ts";
import { agentOf } from "./context.ts";
import { callStep } from "./define.ts";
import { newDisk } from "./select.ts";
import { diskOf, newDiskOf } from "./words.ts";

const schema = v.object({ agent: agentAddress, from: diskCid, to: diskCid });

/** Copies the data and changes the active disk. Both are one outcome: the records never show one without the other. */
export const migrateDisk = callStep<v.InferOutput<typeof schema>>({
  name: "migrate_disk",
  subject: "disk",
  calls: ["agent migrate_disk"],
  status: "copying disk",
  line: (instance) => `Migrating disk content from '${diskOf(instance)}' to '${newDiskOf(instance)}'`,
  version: 1,
  schema,
  intent: (subject) => {
    const vm = activeVm(subject.instance);
    const from = activeDisk(subject.instance);
    const to = newDisk(subject);
    if (vm === undefined || from === undefined || to === undefined) return undefined;
    return { agent: addressOf(vm), from: from.cid, to: to.cid };
  },
  run: ({ agent, from, to }, context) =>
    agentOf(context, agent).migrateDisk(from, to, { signal: context.signal }),
  record: ({ from, to }, _, writes) => {
    writes.switchDisk(to);
    writes.updateDisk(from, { mounted: false });
  },
  // The agent ends with either of them mounted.
  invalidate: ({ from, to }, writes) => {
    writes.updateDisk(from, { mounted: false });
    writes.updateDisk(to, { mounted: false });
  },
  settle: async ({ agent: address, from, to }, context) => {
    const agent = agentOf(context, address);
    const mounted = await agent.listDisk({ signal: context.signal });
    // The agent unmounts the old disk as the last thing of a migration.
    const finished = mounted.includes(to) && !mounted.includes(from);
    if (!finished) await agent.migrateDisk(from, to, { signal: context.signal });
  },
});
