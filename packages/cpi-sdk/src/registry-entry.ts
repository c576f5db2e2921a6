import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "@slipway/kernel/lock-file";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import type { Disks } from "@slipway/protocol/settings/disks";
import { registryClient } from "@slipway/registry/client";
import type { SettingsDocument } from "./agent-settings.ts";
import { BadRegistryEntry, RegistryEntryMissing } from "./errors.ts";
import type { Running } from "./running.ts";

const clientOf = (running: Running, endpoint: string) =>
  registryClient({ endpoint, clock: running.clock, random: running.random, signal: running.signal });

export async function putEntry(running: Running, cid: string, settings: SettingsDocument): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  await clientOf(running, access.endpoint).put(cid, JSON.stringify(settings));
}

export async function deleteEntry(running: Running, cid: string): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  await clientOf(running, access.endpoint).delete(cid);
}

/** One try, in passing: the registry may be what failed. */
export async function tryDeleteEntry(running: Running, cid: string): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  const backoff = { tries: 1, firstDelayMs: 0, longestDelayMs: 0 };
  const client = registryClient({ ...access, clock: running.clock, backoff, attemptTimeoutMs: 5_000 });
  await client.delete(cid);
}

/**
 * Changes the disks in a VM's registry entry. The registry knows no transactions, so processes that share a state
 * directory take turns.
 */
export async function changeDisks(
  running: Running,
  cid: string,
  missing: "fails" | "is fine",
  change: (disks: Disks) => Disks,
): Promise<void> {
  const access = running.registry;
  if (access === undefined) return;
  const client = clientOf(running, access.endpoint);
  await exclusively(running, cid, async () => {
    const text = await client.get(cid);
    if (text === undefined) {
      // A caller that does not name the stemcell may mean a VM that never had an entry.
      if (running.stemcellUnknown && running.version >= 2) return;
      if (missing === "fails") throw RegistryEntryMissing({ method: running.method.name, cid });
      running.log.warn(`the registry has no entry for VM '${cid}'`);
      return;
    }
    const checked = checkAgentSettings(parseStrictJson(text, `the registry entry of VM '${cid}'`));
    if (!checked.ok) throw BadRegistryEntry({ method: running.method.name, cid, problems: checked.problems });
    const disks = change(checked.value.disks ?? {});
    await client.put(cid, JSON.stringify({ ...checked.value, disks }));
  });
}

async function exclusively(running: Running, cid: string, work: () => Promise<void>): Promise<void> {
  if (running.stateDir === undefined) return await work();
  const dir = join(running.stateDir, "registry-locks");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(cid).digest("hex").slice(0, 32);
  const options = { clock: running.clock, waitMs: Number.POSITIVE_INFINITY, signal: running.signal };
  await withLock(join(dir, `${name}.lock`), options, work);
}
