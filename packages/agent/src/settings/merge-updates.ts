import { isDeepStrictEqual } from "node:util";
import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import { blobstoreSettings, mbusClientCa, mbusCredentials, mbusUrls } from "./effective.ts";

export interface MergedUpdates {
  readonly updates: UpdateSettings;
  /** True if bus or blobstore differ from those in use. */
  readonly restart: boolean;
}

/** Certificates and associations are replaced also by being left out; bus, blobstores and disks only by being given. */
export function mergeUpdates(
  settings: AgentSettings,
  before: UpdateSettings,
  pushed: UpdateSettings,
): MergedUpdates {
  const updates: UpdateSettings = {
    ...before,
    trusted_certs: pushed.trusted_certs ?? "",
    disk_associations: pushed.disk_associations ?? [],
    ...(saysSomething(pushed.mbus) && { mbus: pushed.mbus }),
    ...((pushed.blobstores ?? []).length > 0 && { blobstores: pushed.blobstores }),
    ...(pushed.disks != null && { disks: pushed.disks }),
  };
  const inUse = (of: UpdateSettings) => [
    mbusUrls(settings, of),
    mbusCredentials(settings, of),
    mbusClientCa(settings, of),
    blobstoreSettings(settings, of),
  ];
  return { updates, restart: !isDeepStrictEqual(inUse(before), inUse(updates)) };
}

/** Upstream's Director can send a bus whose fields are all empty; it means none. */
function saysSomething(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(saysSomething);
}

/** `update_settings.json` as upstream writes it: every key is there. Keys of ours stay beside them. */
export function updatesDocument(updates: UpdateSettings): Record<string, unknown> {
  const cert = { ca: "", private_key: "", certificate: "", ...updates.mbus?.cert };
  return {
    ...updates,
    blobstores: updates.blobstores ?? null,
    disk_associations: updates.disk_associations ?? [],
    mbus: { ...updates.mbus, cert, urls: updates.mbus?.urls ?? null },
    trusted_certs: updates.trusted_certs ?? "",
  };
}
