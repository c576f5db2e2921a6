import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import { type DiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import type { MemoryRequest } from "../platform/platform.ts";
import type { TransportCredentials } from "../transports/transport.ts";

/** Chooses between settings, env and update_settings if several have a value. Empty counts as missing. */

const filled = <T>(list: readonly T[] | null | undefined): readonly T[] | undefined =>
  list == null || list.length === 0 ? undefined : list;

export function mbusUrls(settings: AgentSettings, updates: UpdateSettings): readonly string[] {
  const own = settings.mbus ? [settings.mbus] : [];
  return filled(updates.mbus?.urls) ?? filled(settings.env?.bosh?.mbus?.urls) ?? own;
}

/** The pushed certificate counts only with its authority: half a rotation would lock the agent out. */
export function mbusCredentials(settings: AgentSettings, updates: UpdateSettings): TransportCredentials {
  const pushed = credentialsOf(updates.mbus?.cert);
  return pushed.ca !== "" ? pushed : credentialsOf(settings.env?.bosh?.mbus?.cert);
}

/**
 * `client_ca` beside the certificate, a key of ours: HTTPS callers then need a certificate of that authority. It is not
 * `ca`, which create-env's manifests fill with the authority of the agent's own certificate.
 */
export function mbusClientCa(settings: AgentSettings, updates: UpdateSettings): string | undefined {
  const pushed = updates.mbus?.cert;
  const cert = credentialsOf(pushed).ca !== "" ? pushed : settings.env?.bosh?.mbus?.cert;
  const ca = (cert as Record<string, unknown> | null | undefined)?.client_ca;
  return typeof ca === "string" && ca !== "" ? ca : undefined;
}

function credentialsOf(cert: object | null | undefined): TransportCredentials {
  const { ca, certificate, private_key: key } = (cert ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { ca: text(ca), certificate: text(certificate), privateKey: text(key) };
}

export interface BlobstoreSettings {
  readonly provider: string;
  readonly options?: Readonly<Record<string, unknown>> | null | undefined;
}

export function blobstoreSettings(
  settings: AgentSettings,
  updates: UpdateSettings,
): BlobstoreSettings | undefined {
  return (
    filled(updates.blobstores)?.[0] ??
    filled(settings.env?.bosh?.blobstores)?.[0] ??
    settings.blobstore ??
    undefined
  );
}

/** An empty list in env is said too: no time servers. */
export const ntpServers = (settings: AgentSettings): readonly string[] =>
  settings.env?.bosh?.ntp ?? settings.ntp ?? [];

/** Returns the crypt hash of the password. `*` allows no login. */
export const passwordHash = (settings: AgentSettings): string => settings.env?.bosh?.password || "*";

export function ephemeralHint(settings: AgentSettings): DiskHint | undefined {
  const wire = settings.disks?.ephemeral;
  if (wire === undefined || wire === null || wire === "") return undefined;
  const parsed = parseDiskHint(wire);
  return parsed.ok ? parsed.hint : undefined;
}

export const rawEphemeralHints = (settings: AgentSettings): readonly DiskHint[] =>
  (settings.disks?.raw_ephemeral ?? []).flatMap((wire) => {
    const parsed = parseDiskHint(wire);
    return parsed.ok ? [parsed.hint] : [];
  });

/** `env.bosh.agent.settings.tmpfs`: the settings must not touch a disk. */
export function keepsSettingsInMemory(settings: AgentSettings): boolean {
  const agent = (settings.env?.bosh as Record<string, unknown> | null | undefined)?.agent;
  return (agent as { settings?: { tmpfs?: unknown } | null } | null | undefined)?.settings?.tmpfs === true;
}

/** `env.bosh.parallel`: how many blobs are fetched at once. */
export function parallelDownloads(settings: AgentSettings): number {
  const wanted = (settings.env?.bosh as Record<string, unknown> | null | undefined)?.parallel;
  return typeof wanted === "number" && wanted >= 1 ? Math.min(Math.floor(wanted), 64) : 5;
}

/**
 * `env.bosh.agent.acts_as`, a key of ours for tests: the agent answers what agents of before add_persistent_disk did, as
 * `cpi_api_test_max_version` makes an old Director and `debug.cpi.api_version` an old CPI.
 */
export function actsAs(settings: AgentSettings): "v1" | "first v2" | undefined {
  const given = settings.env?.bosh?.agent?.acts_as;
  return given === "v1" || given === "first v2" ? given : undefined;
}

/** Returns the parts of this VM that are kept in memory. */
export function memoryRequest(settings: AgentSettings): MemoryRequest {
  const { job_dir: jobs, run_dir: run } = settings.env?.bosh ?? {};
  return {
    runSize: run?.tmpfs_size || undefined,
    jobs: jobs?.tmpfs === true,
    jobsSize: jobs?.tmpfs_size || undefined,
    settings: keepsSettingsInMemory(settings),
  };
}
