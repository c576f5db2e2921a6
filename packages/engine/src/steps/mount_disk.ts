import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { AgentAddress, AskOptions, HasDisks, TakesSettings } from "../agents/agent.ts";
import { activeDisk, activeVm, type DiskRecord, type VmRecord } from "../model/records.ts";
import { addressOf, type CallIntent, callAbout, optionsOf, settingsOfAgent } from "./calls.ts";
import { agentOf, cloudOf, type FlowContext } from "./context.ts";
import { rerunStep } from "./define.ts";
import { diskMetadata } from "./metadata.ts";
import { readyAgent } from "./ready-agent.ts";
import { linkedDisks, newDisk } from "./select.ts";
import type { Step, StepSubject, StepWords } from "./step.ts";
import { diskOf, newDiskOf } from "./words.ts";

interface Mount extends CallIntent {
  readonly vm: VmRecord;
  readonly agent: AgentAddress;
  readonly disk: DiskCid;
  readonly hint: DiskHintWire | null;
  /** All disks of the VM with their hints, for agents of a draft. */
  readonly disks: Disks;
  readonly metadata: JsonObject;
  readonly linked: ReturnType<typeof linkedDisks>;
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
        vm,
        disks: vm.disks,
        agent: addressOf(vm),
        disk: disk.cid,
        hint: disk.hint,
        metadata: diskMetadata(subject, context),
        linked: linkedDisks(subject.instance, vm),
      };
    },
    run: async (intent, context) => {
      const agent = agentOf(context, intent.agent);
      const ask = { signal: context.signal };
      let hint: DiskHintWire | undefined;
      await readyAgent(intent.vm, context);
      if (intent.hint !== null) {
        const known = await agent.addPersistentDisk(intent.disk, intent.hint, ask);
        // An agent that reads the registry finds the hint there.
        if (!known && intent.channel !== "registry")
          hint = await tellByDrafts(agent, intent, intent.hint, ask, context.settings);
      }
      await cloudOf(context, intent.cpi).setDiskMetadata(
        intent.disk,
        intent.metadata,
        optionsOf(intent, context),
      );
      await agent.mountDisk(intent.disk, { ...ask, hint });
    },
    record: ({ disk }, _, writes) => writes.updateDisk(disk, { mounted: true }),
  });

/**
 * Agents of before add_persistent_disk take the hint with mount_disk. Those of the first design keep it under
 * update_persistent_disk, those of draft B as part of their settings.
 */
export async function tellByDrafts(
  agent: HasDisks & TakesSettings,
  { disk, disks, linked }: Pick<Mount, "disk" | "disks" | "linked">,
  hint: DiskHintWire,
  ask: AskOptions,
  settings: FlowContext["settings"],
): Promise<DiskHintWire> {
  if (!(await agent.updatePersistentDisk(disk, hint, ask)))
    await agent.updateSettings({ ...settingsOfAgent(linked, settings), disks }, ask);
  return hint;
}

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
