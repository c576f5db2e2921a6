import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { checkAgentSettings } from "@slipway/protocol/settings/agent-settings";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Network } from "@slipway/protocol/settings/networks";
import type { AgentSection, RegistryOfAgents } from "./config.ts";
import type { VmSettings } from "./cpi.ts";
import { nameServers } from "./networks.ts";

/** Settings as they are written: plain JSON that the checks of the protocol accept. */
export interface SettingsDocument {
  readonly agent_id: string;
  readonly disks: Disks;
  readonly [key: string]: unknown;
}

/** The complete settings of a new VM: the user-data of registry-less mixes, the registry entry of the others. */
export function composeSettings(
  vm: VmSettings,
  given: {
    readonly agentId: string;
    readonly env: unknown;
    readonly agent: AgentSection;
    readonly bootstrap?: JsonObject | undefined;
  },
): SettingsDocument {
  return {
    // What the Director says of bus, time servers and blobstore counts, not what the CPI was configured with.
    ...withoutNulls(given.agent),
    ...withoutNulls(given.bootstrap ?? {}),
    agent_id: given.agentId,
    vm: { name: vm.name ?? `vm-${given.agentId}` },
    networks: vm.networks,
    disks: { ...vm.disks, persistent: {} },
    env: given.env ?? {},
  };
}

/** The user-data of mixes with a registry: the way there, and what an agent may need to get that far. */
export function composeRegistryUserData(vm: VmSettings, registry: RegistryOfAgents): JsonObject {
  const nameserver = nameServers(vm.networks);
  return {
    ...(vm.serverName !== undefined && { server: { name: vm.serverName } }),
    registry: { endpoint: registry.endpoint },
    ...(nameserver.length > 0 && { dns: { nameserver } }),
    networks: Object.fromEntries(
      Object.entries(vm.networks).map(([name, network]) => [name, withoutCloud(network)]),
    ),
  };
}

/** Job templates write null for what is not set; agents do not take that. */
const withoutNulls = (section: object) =>
  Object.fromEntries(Object.entries(section).filter(([, value]) => value !== null));

function withoutCloud(network: Network): JsonObject {
  const { cloud_properties: _, ...rest } = network;
  return rest as JsonObject;
}

export type ChangedSettings =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Changes the disks in the text of settings, and nothing else. `what` names the text if it is not JSON. */
export function changedSettings(
  text: string,
  what: string,
  change: (disks: Disks) => Disks,
): ChangedSettings {
  const settings = parseStrictJson(text, what);
  const checked = checkAgentSettings(settings);
  if (!checked.ok) return checked;
  const disks = change(checked.value.disks ?? {});
  // All else is put back as it was, its nulls included: they may be the manifest author's.
  return { ok: true, text: JSON.stringify({ ...(settings as object), disks }) };
}

export const withDisk = (disks: Disks, cid: string, hint: DiskHintWire): Disks => ({
  ...disks,
  persistent: { ...disks.persistent, [cid]: hint },
});

export function withoutDisk(disks: Disks, cid: string): Disks {
  const { [cid]: _, ...persistent } = disks.persistent ?? {};
  return { ...disks, persistent };
}
