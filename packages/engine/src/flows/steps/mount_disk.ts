import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { AgentAddress } from "../../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord } from "../../model/records.ts";
import type { StepName } from "../../plan/model.ts";
import { type CallIntent, callAbout, optionsOf } from "../calls.ts";
import { diskMetadata } from "../metadata.ts";
import { newDisk } from "../select.ts";
import { type AnyStep, agentOf, cloudOf, defineStep, type Subject } from "../step.ts";

interface Mount extends CallIntent {
  readonly agent: AgentAddress;
  readonly disk: DiskCid;
  readonly hint: DiskHintWire | null;
  readonly metadata: JsonObject;
}

/** The agent learns where the disk is, then mounts it. All of it may be repeated. */
const mount = (name: StepName, which: (subject: Subject) => DiskRecord | undefined): AnyStep =>
  defineStep<Mount, void>({
    name,
    redo: true,
    intent: (subject, context) => {
      const vm = activeVm(subject.instance);
      const disk = which(subject);
      if (vm === undefined || disk === undefined || disk.attachedTo !== vm.cid || disk.mounted)
        return undefined;
      return {
        ...callAbout(vm, context),
        agent: { agentId: vm.agentId, agentUrl: vm.agentUrl },
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

export const mountDisk = mount("mount_disk", ({ instance }) => activeDisk(instance));
export const mountNewDisk = mount("mount_new_disk", newDisk);
