import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { AgentAddress } from "../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord, type VmRecord } from "../model/records.ts";
import { type DiskOfVm, mountedDisk, mountIfLost, tellDisk } from "./agent-disks.ts";
import { addressOf, type CallIntent, callAbout, optionsOf } from "./calls.ts";
import { agentOf, cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { diskMetadata } from "./metadata.ts";
import { readyAgent } from "./ready-agent.ts";
import { linkedDisks, newDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { diskOf, newDiskOf } from "./words.ts";

interface Mount extends Omit<CallIntent, "channel" | "disks">, DiskOfVm {
  readonly vm: VmRecord;
  readonly agent: AgentAddress;
  readonly metadata: JsonObject;
  /** Other disks of the VM that a lost answer may have left mounted. */
  readonly leftovers: readonly DiskCid[];
  /** The disk that this one is to replace, which has to be mounted before it. */
  readonly before: DiskOfVm | undefined;
}

/**
 * The agent learns where the disk is, then mounts it. All of it may be repeated.
 *
 * An agent mounts a second disk as the target of a migration. A disk of an earlier change whose mount was not answered must
 * not be in the first place then: jobs would run without their disk.
 */
const mount = (
  name: string,
  words: Omit<StepWords, "calls">,
  which: (subject: StepSubject) => DiskRecord | undefined,
): Step<StepSubject> =>
  rerunStep<Mount>({
    ...words,
    name,
    subject: "disk",
    calls: ["agent add_persistent_disk", "cpi set_disk_metadata", "agent mount_disk"],
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = which(subject);
      if (vm === undefined || disk === undefined || disk.attachedTo !== vm.cid || disk.mounted)
        return undefined;
      return {
        ...callAbout(vm, context),
        vm,
        disks: vm.disks,
        agent: addressOf(vm),
        disk: disk.cid,
        hint: disk.hint,
        metadata: diskMetadata(subject, context),
        linked: linkedDisks(subject.instance, vm),
        leftovers: subject.instance.disks
          .filter(({ name, active, attachedTo }) => name === undefined && !active && attachedTo === vm.cid)
          .map(({ cid }) => cid)
          .filter((cid) => cid !== disk.cid),
        before: mountedDisk(subject.instance),
      };
    },
    run: async (intent, context) => {
      const agent = agentOf(context, intent.agent);
      const ask = { signal: context.signal };
      await readyAgent(intent.vm, context);
      const hint = await tellDisk(agent, intent, ask, context.settings);
      await cloudOf(context, intent.cpi).setDiskMetadata(
        intent.disk,
        intent.metadata,
        optionsOf(intent, context),
      );
      if (intent.leftovers.length > 0) {
        const mounted = await agent.listDisk(ask);
        for (const cid of intent.leftovers) if (mounted.includes(cid)) await agent.unmountDisk(cid, ask);
      }
      if (intent.before !== undefined) await mountIfLost(agent, intent.before, [intent.disk], ask, context);
      await agent.mountDisk(intent.disk, { ...ask, hint });
    },
    record: ({ disk }, _, writes) => writes.updateDisk(disk, { mounted: true }),
  });

export const mountDisk = mount(
  "mount_disk",
  { status: "mounting disk", line: (instance) => `Mounting disk '${diskOf(instance)}'` },
  ({ instance }) => activeDisk(instance),
);
export const mountNewDisk = mount(
  "mount_new_disk",
  { status: "mounting new disk", line: (instance) => `Mounting disk '${newDiskOf(instance)}'` },
  (subject) => newDisk(subject),
);
