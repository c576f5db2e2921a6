import type { DiskCid } from "@slipway/protocol/ids";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { AskOptions, DiskControl, SettingsUpdater } from "../agents/agent.ts";
import { activeDisk, activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import { settingsOfAgent } from "./calls.ts";
import type { FlowContext } from "./context.ts";
import { linkedDisks } from "./select.ts";

/** A disk of a VM, with what agents of drafts are told beside it. */
export interface DiskOfVm {
  readonly disk: DiskCid;
  readonly hint: DiskHintWire | null;
  readonly channel?: VmRecord["channel"] | undefined;
  /** All disks of the VM with their hints, for agents of a draft. */
  readonly disks: Disks;
  readonly linked: ReturnType<typeof linkedDisks>;
}

/** Tells the agent where a disk is. Returns the hint if it has to come with mount_disk. */
export async function tellDisk(
  agent: DiskControl & SettingsUpdater,
  of: DiskOfVm,
  ask: AskOptions,
  settings: FlowContext["settings"],
): Promise<DiskHintWire | undefined> {
  if (of.hint === null) return undefined;
  // An agent that reads the registry finds the hint there.
  if ((await agent.addPersistentDisk(of.disk, of.hint, ask)) || of.channel === "registry") return undefined;
  return await tellByDrafts(agent, of, of.hint, ask, settings);
}

/**
 * Agents of before add_persistent_disk take the hint with mount_disk. Those of the first design keep it under
 * update_persistent_disk, those of draft B as part of their settings.
 */
export async function tellByDrafts(
  agent: DiskControl & SettingsUpdater,
  { disk, disks, linked }: Pick<DiskOfVm, "disk" | "disks" | "linked">,
  hint: DiskHintWire,
  ask: AskOptions,
  settings: FlowContext["settings"],
): Promise<DiskHintWire> {
  if (!(await agent.updatePersistentDisk(disk, hint, ask)))
    await agent.updateSettings({ ...settingsOfAgent(linked, settings), disks }, ask);
  return hint;
}

/** Returns the disk that is mounted in the VM in use, by the records. */
export function mountedDisk(instance: InstanceRecord): DiskOfVm | undefined {
  const vm = activeVm(instance);
  const disk = activeDisk(instance);
  if (vm === undefined || disk?.attachedTo !== vm.cid || !disk.mounted) return undefined;
  return {
    ...{ disk: disk.cid, hint: disk.hint, channel: vm.channel },
    ...{ disks: vm.disks, linked: linkedDisks(instance, vm) },
  };
}

/**
 * Mounts a disk again if the agent has lost it: some CPIs, such as upstream's for Docker, recreate the VM to attach or detach
 * a disk. `inTheWay` are disks that must not keep its place.
 */
export async function mountIfLost(
  agent: DiskControl & SettingsUpdater,
  of: DiskOfVm,
  inTheWay: readonly DiskCid[],
  ask: AskOptions,
  { settings, debug }: Pick<FlowContext, "settings" | "debug">,
): Promise<void> {
  const mounted = await agent.listDisk(ask);
  if (mounted.includes(of.disk)) return;
  debug(`the agent has lost disk '${of.disk}', which is mounted again`);
  for (const cid of inTheWay) if (mounted.includes(cid)) await agent.unmountDisk(cid, ask);
  const hint = await tellDisk(agent, of, ask, settings);
  await agent.mountDisk(of.disk, { ...ask, hint });
}
