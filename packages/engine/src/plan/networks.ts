import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { formatIp } from "../manifest/ip.ts";
import type { GroupNetwork } from "../manifest/model.ts";
import { sameJson } from "./equal.ts";
import { poolHolding, type Room, serves } from "./rooms.ts";

/** One network of one instance, as CPI and agent are told. Undefined: no subnet of it serves the instance. */
export function networkSettings(
  room: Room,
  asked: GroupNetwork,
  az: string | null,
  address: number | undefined,
): Network | undefined {
  const defaults = asked.default.length === 0 ? {} : { default: [...asked.default].sort() };
  if (room.type === "dynamic") {
    const subnet =
      room.network.subnets.find((one) => serves(one, az)) ??
      room.network.subnets.find((one) => one.azs === undefined);
    if (subnet === undefined) return undefined;
    const { dns, cloudProperties } = subnet;
    return { type: "dynamic", prefix: "32", dns: [...dns], ...defaults, cloud_properties: cloudProperties };
  }
  if (address === undefined) return undefined;
  const ip = formatIp(address);
  if (room.type === "vip")
    return { type: "vip", ip, prefix: "32", cloud_properties: room.network.cloudProperties };
  const pool = poolHolding(room.pools, address);
  if (pool === undefined) return undefined;
  const { gateway, dns, cloudProperties } = pool.subnet;
  return {
    type: "manual",
    ip,
    prefix: "32",
    netmask: pool.netmask,
    ...(gateway === undefined ? {} : { gateway }),
    dns: [...dns],
    ...defaults,
    cloud_properties: cloudProperties,
  };
}

type Key = keyof Network;
const SENT: readonly Key[] = ["type", "ip", "netmask", "gateway", "dns", "default", "cloud_properties"];
/** Of a dynamic network the cloud says the rest. */
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

/** The addresses networks use. */
export const addressesOf = (networks: Networks): readonly string[] =>
  Object.values(networks).flatMap((network) => (network.ip === undefined ? [] : [network.ip]));
