import { type DiskHintWire, formatDiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import { changedSettings, composeSettings, withDisk, withoutDisk } from "./agent-settings.ts";
import type { AgentSection } from "./config.ts";
import type { VmSettings } from "./cpi.ts";
import { BadStoredSettings, cpiError } from "./errors.ts";

/** A new VM's part of the settings, and what its agent needs besides. */
export interface NewVmSettings extends VmSettings {
  readonly agentId: string;
  /** `env` of create_vm, which the agent gets as it came. */
  readonly env?: unknown;
  /** Bus, time servers and blobstore, for callers that do not send them in `env`. */
  readonly agent?: AgentSection;
}

/** Complete settings of a new VM, without persistent disks, as text for its file, CD-ROM or config drive. */
export const newSettings = ({ agentId, env, agent = {}, ...vm }: NewVmSettings): string =>
  JSON.stringify(composeSettings(vm, { agentId, env, agent }));

/** Adds a persistent disk to settings, or replaces its hint. All else stays as it is. */
export function attachPersistentDisk(settings: string, diskCid: string, hint: DiskHintWire): string {
  const parsed = parseDiskHint(hint);
  if (!parsed.ok) throw cpiError(`the hint of disk '${diskCid}': ${parsed.problem}`);
  return changeSettings(settings, (disks) => withDisk(disks, diskCid, formatDiskHint(parsed.hint)));
}

/** Removes a persistent disk from settings. Settings without the disk stay as they are. */
export const detachPersistentDisk = (settings: string, diskCid: string): string =>
  changeSettings(settings, (disks) => withoutDisk(disks, diskCid));

function changeSettings(settings: string, change: (disks: Disks) => Disks): string {
  const changed = changedSettings(settings, "the stored settings", change);
  if (!changed.ok) throw BadStoredSettings({ problems: changed.problems });
  return changed.text;
}
