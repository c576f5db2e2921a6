import { isDeepStrictEqual } from "node:util";
import type { DiskCid } from "@slipway/protocol/ids";
import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import { type DiskHint, formatDiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import {
  hintFromStored,
  type PersistentDiskHints,
  type StoredDiskHint,
  storeHint,
} from "@slipway/protocol/settings/persistent-disk-hints";
import type { DiskSettings } from "../platform/disks.ts";

/** Key of a hint that upstream's fields cannot hold. Upstream's agent ignores it. */
const WHOLE_HINT = "Hint";

type MountFields = Pick<DiskSettings, "fileSystem" | "mountOptions" | "partitioner">;

const mountFields = (settings: AgentSettings): MountFields => ({
  fileSystem: settings.env?.persistent_disk_fs ?? "",
  mountOptions: settings.env?.persistent_disk_mount_options ?? [],
  partitioner: settings.env?.persistent_disk_partitioner ?? "",
});

/** The entry of a disk, with how to mount it as the settings say now. */
export function storedHint(cid: string, hint: DiskHint, settings: AgentSettings): StoredDiskHint {
  const { mountOptions, ...fields } = mountFields(settings);
  const stored = storeHint(cid as DiskCid, hint, {
    ...fields,
    mountOptions: mountOptions.length === 0 ? null : mountOptions,
  });
  const kept = hintFromStored(stored);
  const whole = formatDiskHint(hint);
  const lossless = kept !== undefined && isDeepStrictEqual(formatDiskHint(kept), whole);
  return lossless ? stored : { ...stored, [WHOLE_HINT]: whole };
}

function readStored(stored: StoredDiskHint): DiskHint | undefined {
  const whole = (stored as Record<string, unknown>)[WHOLE_HINT];
  const parsed = whole === undefined ? undefined : parseDiskHint(whole);
  return parsed?.ok ? parsed.hint : hintFromStored(stored);
}

/** Every disk the agent knows of: those of the settings, then those of update_settings, then the stored hints. */
export function knownDisks(
  settings: AgentSettings,
  updates: UpdateSettings,
  hints: PersistentDiskHints,
): ReadonlyMap<string, DiskSettings> {
  const known = new Map<string, DiskSettings>();
  const given = { ...settings.disks?.persistent, ...updates.disks?.persistent };
  for (const [cid, wire] of Object.entries(given)) {
    const parsed = parseDiskHint(wire);
    if (parsed.ok) known.set(cid, { cid, hint: parsed.hint, ...mountFields(settings) });
  }
  for (const [cid, stored] of Object.entries(hints)) {
    const hint = readStored(stored);
    // An entry that identifies nothing must not hide one that does.
    if (hint === undefined) continue;
    known.set(cid, {
      cid,
      hint,
      fileSystem: stored.FileSystemType,
      mountOptions: stored.MountOptions ?? [],
      partitioner: stored.Partitioner,
    });
  }
  return known;
}
