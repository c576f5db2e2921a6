import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { formatIp, singlePrefix } from "../manifest/ip.ts";
import type { GroupNetwork } from "../manifest/model.ts";
import { type NetworkPools, poolHolding, serves } from "./network-pools.ts";

/** Returns one network of an instance, in the form for CPI and agent. Undefined: no subnet of it serves the instance. */
export function networkSettings(
  networkPools: NetworkPools,
  asked: GroupNetwork,
  az: string | null,
  address: bigint | undefined,
): Network | undefined {
  const defaults = asked.default.length === 0 ? {} : { default: [...asked.default].sort() };
  const nic = asked.nicGroup === undefined ? {} : { nic_group: asked.nicGroup };
  if (networkPools.type === "dynamic") {
    const subnet =
      networkPools.network.subnets.find((one) => serves(one, az)) ??
      networkPools.network.subnets.find((one) => one.azs === undefined);
    if (subnet === undefined) return undefined;
    const { dns, cloudProperties } = subnet;
    return {
      type: "dynamic",
      prefix: "32",
      dns: [...dns],
      ...defaults,
      ...nic,
      cloud_properties: cloudProperties,
    };
  }
  if (address === undefined) return undefined;
  const ip = formatIp(address);
  if (networkPools.type === "vip")
    return {
      type: "vip",
      ip,
      prefix: singlePrefix(address),
      ...nic,
      cloud_properties: networkPools.network.cloudProperties,
    };
  const pool = poolHolding(networkPools.pools, address);
  if (pool === undefined) return undefined;
  const { gateway, dns, cloudProperties } = pool.subnet;
  return {
    type: "manual",
    ip,
    prefix: pool.subnet.prefix === undefined ? singlePrefix(address) : String(pool.subnet.prefix),
    netmask: pool.netmask,
    ...(gateway === undefined ? {} : { gateway }),
    dns: [...dns],
    ...defaults,
    ...nic,
    cloud_properties: cloudProperties,
  };
}

/** The addresses networks use. */
export const addressesOf = (networks: Networks): readonly string[] =>
  Object.values(networks).flatMap((network) => (network.ip === undefined ? [] : [network.ip]));
