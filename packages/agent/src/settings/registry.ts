import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { AgentSettings } from "@slipway/protocol/settings/agent-settings";
import type { RegistryUserData } from "@slipway/protocol/settings/user-data";
import { registryClient } from "@slipway/registry/client";
import type { Paths } from "../paths.ts";
import { RegistryHasNothing, RegistryKeyUnknown, SourceFailed } from "./errors.ts";
import { parseSettings } from "./parse.ts";
import { shownUrl } from "./shown-url.ts";
import { readLimited } from "./sources/file.ts";
import type { SettingsReader } from "./sources/source.ts";

export interface RegistryTools {
  readonly paths: Paths;
  readonly clock: Clock;
  readonly random: Random;
  readonly attemptTimeoutMs?: number;
}

export interface FromRegistry {
  readonly settings: AgentSettings;
  readonly where: string;
}

/** One attempt to get the settings that incomplete user-data lead to (CPI API v1). */
export async function askRegistry(
  userData: RegistryUserData,
  source: SettingsReader,
  useServerName: boolean,
  tools: RegistryTools,
  signal: AbortSignal,
): Promise<FromRegistry> {
  const { endpoint } = userData.registry;
  if (!/^https?:/i.test(endpoint)) {
    // The Warden CPI names a file of the VM instead.
    const where = `the file ${endpoint}`;
    return { settings: parseSettings(await readLimited(where, tools.paths.system(endpoint)), where), where };
  }
  const registry = shownUrl(endpoint);
  const key = await registryKey(userData, source, useServerName, signal);
  const nameservers = userData.dns?.nameserver ?? [];
  const client = registryClient({
    endpoint: await withAddress(endpoint, nameservers, registry),
    username: userData.registry.user ?? undefined,
    password: userData.registry.password ?? undefined,
    backoff: { tries: 1, firstDelayMs: 0, longestDelayMs: 0 },
    clock: tools.clock,
    random: tools.random,
    signal,
    attemptTimeoutMs: tools.attemptTimeoutMs,
  });
  const text = await client.get(key);
  if (text === undefined) throw RegistryHasNothing({ key, registry });
  const where = `the registry ${registry} under ${JSON.stringify(key)}`;
  return { settings: parseSettings(text, where), where };
}

async function registryKey(
  userData: RegistryUserData,
  source: SettingsReader,
  useServerName: boolean,
  signal: AbortSignal,
): Promise<string> {
  const serverName = userData.server?.name || undefined;
  const key = useServerName ? serverName : ((await source.instanceId?.(signal)) ?? serverName);
  if (key === undefined) throw RegistryKeyUnknown({ source: source.name });
  return key;
}

/**
 * The host of the endpoint resolved by the VM's own name servers, which may not be in use yet. With https the name
 * stays: the certificate is checked against it.
 */
async function withAddress(
  endpoint: string,
  nameservers: readonly string[],
  registry: string,
): Promise<string> {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isName = url?.protocol === "http:" && !/^\[|^[\d.]+$/.test(url.hostname);
  if (url === undefined || !isName || nameservers.length === 0) return endpoint;
  const { Resolver } = await import("node:dns/promises");
  try {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    resolver.setServers([...nameservers]);
    const [address] = await resolver.resolve4(url.hostname);
    if (address !== undefined) url.hostname = address;
    return url.href;
  } catch (cause) {
    throw SourceFailed(
      { source: registry, why: `its name cannot be resolved by ${nameservers.join(", ")}` },
      { cause },
    );
  }
}
