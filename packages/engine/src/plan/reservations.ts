import type { Network, Networks } from "@slipway/protocol/settings/networks";
import type { Report } from "../documents/problems.ts";
import { formatBlock, parseBlock } from "../manifest/ip.ts";
import { display } from "../model/names.ts";
import type { IpRecord } from "../model/records.ts";
import type { AddressAllocator, Holder } from "./ips.ts";
import { mayKeep, type PoolsByNetwork, poolsFor, sizeIn } from "./network-pools.ts";
import { networkSettings } from "./networks.ts";
import type { Placed } from "./placement.ts";

/** Addresses by network name. */
export type Reserved = ReadonlyMap<string, bigint>;

/**
 * Returns the held addresses that an instance can keep, the first fitting one per network. A network that was renamed, or whose
 * subnet another one took over, keeps its addresses.
 */
export function keepReservations(
  placed: Placed,
  poolsByNetwork: PoolsByNetwork,
  held: readonly IpRecord[],
): Reserved {
  const kept = new Map(placed.statics);
  const left = held.flatMap((ip) => {
    const block = parseBlock(ip.address);
    return block === undefined ? [] : [{ ...block, network: ip.network }];
  });
  for (const same of [true, false])
    for (const { name } of placed.group.networks) {
      const networkPools = poolsByNetwork.get(name);
      if (networkPools === undefined || networkPools.type === "dynamic" || kept.has(name)) continue;
      if (!same && networkPools.type !== "manual") continue;
      const at = left.findIndex(
        (ip) =>
          (same ? ip.network === name : (poolsByNetwork.get(ip.network)?.type ?? "manual") === "manual") &&
          mayKeep(networkPools, ip, placed.az),
      );
      const [found] = at < 0 ? [] : left.splice(at, 1);
      if (found !== undefined) kept.set(name, found.first);
    }
  return kept;
}

/** Takes what the manifest gives by name. Done for all instances before anyone takes just any address. */
export function claimStatics(
  placed: Placed,
  poolsByNetwork: PoolsByNetwork,
  deployment: string,
  holder: Holder,
  allocator: AddressAllocator,
  report: Report,
): void {
  for (const [network, address] of placed.statics) {
    const size = sizeIn(poolsByNetwork.get(network), address);
    if (allocator.claim(address, holder, size)) continue;
    report.add(
      130008,
      `instance_groups/${placed.group.name}/networks/${network}`,
      `Failed to reserve IP '${formatBlock(address, size)}' for instance '${display({ ...placed, group: placed.group.name })}': already reserved by ${allocator.holder(address)?.text() ?? "somebody"}`,
      `Choose another address, or free this one: it is given to one instance in the whole Director, and '${deployment}' gets it only when its holder is gone.`,
    );
  }
}

/** The lowest free address on every network that has none yet. */
export function reserveRest(
  placed: Placed,
  poolsByNetwork: PoolsByNetwork,
  kept: Reserved,
  holder: Holder,
  allocator: AddressAllocator,
  report: Report,
): Reserved {
  const reserved = new Map(kept);
  for (const { name } of placed.group.networks) {
    const networkPools = poolsByNetwork.get(name);
    if (networkPools === undefined || networkPools.type === "dynamic" || reserved.has(name)) continue;
    let address: bigint | undefined;
    for (const pool of poolsFor(networkPools, placed.az)) address ??= allocator.takeLowest(pool, holder);
    if (address !== undefined) reserved.set(name, address);
    else
      report.add(
        130011,
        `instance_groups/${placed.group.name}/networks/${name}`,
        `Failed to reserve IP for '${display({ ...placed, group: placed.group.name })}' for ${networkPools.type} network '${name}': no more available`,
        `Enlarge a subnet${placed.az === null ? "" : ` of zone '${placed.az}'`} or its reserved and static ranges' rest, or ask for fewer instances. With create-swap-delete every replaced VM needs a second address for a while.`,
      );
  }
  return reserved;
}

export interface Settled {
  readonly networks: Networks;
  readonly ips: readonly IpRecord[];
  /** Every network of the group has its settings. */
  readonly complete: boolean;
}

/** Settings and reservations of an instance with these addresses. */
export function settle(placed: Placed, poolsByNetwork: PoolsByNetwork, reserved: Reserved): Settled {
  const networks: [string, Network][] = [];
  const ips: IpRecord[] = [];
  for (const asked of placed.group.networks) {
    const { name } = asked;
    const networkPools = poolsByNetwork.get(name);
    const address = reserved.get(name);
    const settings = networkPools && networkSettings(networkPools, asked, placed.az, address);
    if (settings === undefined) continue;
    networks.push([name, settings]);
    if (address !== undefined)
      ips.push({
        address: formatBlock(address, sizeIn(networkPools, address)),
        network: name,
        static: placed.statics.has(name),
      });
  }
  return {
    networks: Object.fromEntries(networks),
    ips,
    complete: networks.length === placed.group.networks.length,
  };
}

export function reportUnusable(
  placed: Placed,
  settled: Settled,
  poolsByNetwork: PoolsByNetwork,
  report: Report,
): void {
  for (const { name } of placed.group.networks) {
    if (Object.hasOwn(settled.networks, name)) continue;
    const where = `instance_groups/${placed.group.name}/networks/${name}`;
    if (!poolsByNetwork.has(name))
      report.add(
        150001,
        where,
        `Instance group '${placed.group.name}' references an unknown network '${name}'`,
        "Add it to the cloud config, or name one that is there.",
      );
    else if (poolsByNetwork.get(name)?.type === "dynamic")
      report.add(
        150006,
        where,
        `Instance group '${placed.group.name}' must specify availability zone that matches availability zones of network '${name}'`,
        "Give the network a subnet in each of the group's zones.",
      );
  }
}
