import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { sameJson } from "./equal.ts";

type Key = keyof Network;
const SENT: readonly Key[] = ["type", "ip", "netmask", "gateway", "dns", "default", "cloud_properties"];
/** Keys sent for a dynamic network. The cloud chooses the rest. */
const SENT_DYNAMIC: readonly Key[] = ["type", "dns", "default", "cloud_properties"];

/** How what a VM has differs from what it should have, in words. What the cloud or the agent added does not count. */
export function networkDifferences(had: Networks, wanted: Networks): readonly string[] {
  if (had === wanted) return [];
  const found: string[] = [];
  for (const name of Object.keys(had))
    if (wanted[name] === undefined) found.push(`network '${name}' dropped`);
  for (const [name, network] of Object.entries(wanted)) {
    const before = had[name];
    if (before === undefined) {
      found.push(`network '${name}' added`);
      continue;
    }
    for (const key of network.type === "dynamic" ? SENT_DYNAMIC : SENT) {
      const [old, now] = [plain(before[key]), plain(network[key])];
      if (sameJson(old, now)) continue;
      const addresses = typeof old === "string" && typeof now === "string";
      found.push(
        addresses ? `network '${name}': ${key} ${old} -> ${now}` : `network '${name}': ${key} changed`,
      );
    }
  }
  return found;
}

/** Nothing is written as null, an empty list, an empty object, or not at all. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  return typeof value === "object" && Object.keys(value).length === 0 ? undefined : value;
}
