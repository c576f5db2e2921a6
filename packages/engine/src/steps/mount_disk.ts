import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { AgentAddress } from "../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord } from "../model/records.ts";
import { addressOf, type CallIntent, callAbout, optionsOf } from "./calls.ts";
import { agentOf, cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";
import { diskMetadata } from "./metadata.ts";
import { newDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { diskOf, newDiskOf } from "./words.ts";

interface Mount extends CallIntent {
  readonly agent: AgentAddress;
  readonly disk: DiskCid;
  readonly hint: DiskHintWire | null;
  readonly metadata: JsonObject;
}

/** The agent learns where the disk is, then mounts it. All of it may be repeated. */
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
        agent: addressOf(vm),
        disk: disk.cid,
        hint: disk.hint,
        metadata: diskMetadata(subject, context),
      };
    },
    run: async (intent, context) => {
      const agent = agentOf(context, intent.agent);
      const ask = { signal: context.signal };
      if (intent.hint !== null) {
        await agent.waitUntilReady({ ...ask, withinMs: context.settings.agentWaitMs });
        await agent.addPersistentDisk(intent.disk, intent.hint, ask);
      }
      await cloudOf(context, intent.cpi).setDiskMetadata(
        intent.disk,
        intent.metadata,
        optionsOf(intent, context),
      );
      await agent.waitUntilReady({ ...ask, withinMs: context.settings.agentWaitMs });
      await agent.mountDisk(intent.disk, ask);
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
  newDisk,
);
