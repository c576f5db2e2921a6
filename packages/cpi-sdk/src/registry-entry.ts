import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "@slipway/kernel/lock-file";
import type { Disks } from "@slipway/protocol/settings/disks";
import { registryClient } from "@slipway/registry/client";
import { changedSettings, type SettingsDocument } from "./agent-settings.ts";
import {
  BadRegistryEntry,
  BadStoredSettings,
  RegistryEntryMissing,
  StoredSettingsMissing,
} from "./errors.ts";
import { callOf, type RunningCall } from "./running-call.ts";

const clientOf = (running: RunningCall, endpoint: string) =>
  registryClient({ endpoint, clock: running.clock, random: running.random, signal: running.signal });

export async function putEntry(running: RunningCall, cid: string, settings: SettingsDocument): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  await clientOf(running, access.endpoint).put(cid, JSON.stringify(settings));
}

export async function deleteEntry(running: RunningCall, cid: string): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  await clientOf(running, access.endpoint).delete(cid);
}

/** One try, in passing: the registry may be what failed. */
export async function tryDeleteEntry(running: RunningCall, cid: string): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  const backoff = { tries: 1, firstDelayMs: 0, longestDelayMs: 0 };
  const client = registryClient({ ...access, clock: running.clock, backoff, attemptTimeoutMs: 5_000 });
  await client.delete(cid);
}

/** True if the agent of a VM can learn of disks from the registry, or from settings that the CPI keeps. */
export const keepsEntries = ({ registry, cpi }: RunningCall): boolean =>
  registry !== undefined || cpi.settings !== undefined;

interface EntryStore {
  readonly get: (cid: string) => Promise<string | undefined>;
  readonly put: (cid: string, text: string) => Promise<void>;
  readonly missing: (cid: string) => Error;
  readonly unusable: (cid: string, problems: readonly string[]) => Error;
}

/** Undefined where hints travel with the caller alone. */
function entryStoreOf(running: RunningCall): EntryStore | undefined {
  const method = running.method.name;
  const { settings } = running.cpi;
  if (settings !== undefined && !running.registryless)
    return {
      get: async (cid) => await settings.read(cid, callOf(running)),
      put: async (cid, text) => await settings.write(cid, text, callOf(running)),
      missing: (cid) => StoredSettingsMissing({ method, cid }),
      unusable: (_, problems) => BadStoredSettings({ problems }),
    };
  if (running.registry === undefined) return undefined;
  const client = clientOf(running, running.registry.endpoint);
  return {
    get: (cid) => client.get(cid),
    put: (cid, text) => client.put(cid, text),
    missing: (cid) => RegistryEntryMissing({ method, cid }),
    unusable: (cid, problems) => BadRegistryEntry({ method, cid, problems }),
  };
}

/**
 * Changes the disks in a VM's registry entry, or in the settings that the CPI keeps. Neither knows transactions, so
 * processes that share a state directory take turns.
 */
export async function changeDisks(
  running: RunningCall,
  cid: string,
  missing: "fails" | "is fine",
  change: (disks: Disks) => Disks,
): Promise<void> {
  const store = entryStoreOf(running);
  if (store === undefined) return;
  await exclusively(running, cid, async () => {
    const text = await store.get(cid);
    if (text === undefined) {
      // A caller that does not name the stemcell may mean a VM that never had an entry.
      if (running.stemcellUnknown && running.version >= 2) return;
      if (missing === "fails") throw store.missing(cid);
      running.log.warn(`there are no settings of VM '${cid}' to change`);
      return;
    }
    const changed = changedSettings(text, `the settings of VM '${cid}'`, change);
    if (!changed.ok) throw store.unusable(cid, changed.problems);
    await store.put(cid, changed.text);
  });
}

async function exclusively(running: RunningCall, cid: string, work: () => Promise<void>): Promise<void> {
  if (running.stateDir === undefined) return await work();
  const dir = join(running.stateDir, "registry-locks");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(cid).digest("hex").slice(0, 32);
  const options = { clock: running.clock, waitMs: Number.POSITIVE_INFINITY, signal: running.signal };
  await withLock(join(dir, `${name}.lock`), options, work);
}
