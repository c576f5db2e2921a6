import { contains, mergeRanges, netmask, parseCidr, parseIp, sizeOfPrefix } from "../manifest/ip.ts";
import type {
  CloudConfig,
  CloudNetwork,
  DynamicNetwork,
  IpRange,
  ManualNetwork,
  ManualSubnet,
  VipNetwork,
} from "../manifest/model.ts";
import { holds, without } from "./ranges.ts";

/** Addresses of one subnet, made ready to be searched. */
export interface Pool {
  readonly azs: readonly string[] | undefined;
  /** Ranges that instances get any address from. */
  readonly open: readonly IpRange[];
  readonly static: readonly IpRange[];
  /** Number of addresses that each instance gets, of which it knows the first: 1, or the size of a prefix. */
  readonly size: bigint;
}

export interface ManualPool extends Pool {
  readonly subnet: ManualSubnet;
  readonly range: IpRange;
  readonly netmask: string;
}

/** A network of the cloud config with its pools. */
export type NetworkPools =
  | { readonly type: "manual"; readonly network: ManualNetwork; readonly pools: readonly ManualPool[] }
  | { readonly type: "dynamic"; readonly network: DynamicNetwork }
  | { readonly type: "vip"; readonly network: VipNetwork; readonly pools: readonly Pool[] };

export type PoolsByNetwork = ReadonlyMap<string, NetworkPools>;

export const poolsOfNetworks = (cloudConfig: CloudConfig): PoolsByNetwork =>
  new Map(cloudConfig.networks.map((network) => [network.name, poolsOf(network)]));

function poolsOf(network: CloudNetwork): NetworkPools {
  switch (network.type) {
    case "manual":
      return { type: "manual", network, pools: network.subnets.flatMap(manualPool) };
    case "dynamic":
      return { type: "dynamic", network };
    case "vip":
      return { type: "vip", network, pools: network.subnets.map(vipPool) };
  }
}

function manualPool(subnet: ManualSubnet): readonly ManualPool[] {
  const range = parseCidr(subnet.range);
  if (range === undefined) return [];
  const gateway = subnet.gateway === undefined ? undefined : parseIp(subnet.gateway);
  const restricted = mergeRanges([
    { first: range.first, last: range.first },
    { first: range.last, last: range.last },
    ...(gateway === undefined ? [] : [{ first: gateway, last: gateway }]),
    ...subnet.reserved,
  ]);
  const statics = mergeRanges(mergeRanges(subnet.static).flatMap((one) => without(one, restricted)));
  const open = without(range, mergeRanges([...restricted, ...statics]));
  const size = subnet.prefix === undefined ? 1n : sizeOfPrefix(range.first, subnet.prefix);
  return [{ subnet, range, netmask: netmask(range), azs: subnet.azs, open, static: statics, size }];
}

function vipPool(subnet: VipNetwork["subnets"][number]): Pool {
  const open = mergeRanges(subnet.static);
  return { azs: subnet.azs, open, static: open, size: 1n };
}

/** An instance without a zone may use every subnet. */
export const serves = (subnet: { readonly azs: readonly string[] | undefined }, az: string | null): boolean =>
  az === null || subnet.azs?.includes(az) === true;

export const poolHolding = (pools: readonly ManualPool[], address: bigint): ManualPool | undefined =>
  pools.find((pool) => contains(pool.range, address));

/** Returns true if an address or a prefix may be given here to an instance that takes any. */
export const mayKeep = (networkPools: NetworkPools, { first, size }: Block, az: string | null): boolean =>
  poolsFor(networkPools, az).some((pool) => pool.size === size && holds(pool.open, first, size));

export interface Block {
  readonly first: bigint;
  readonly size: bigint;
}

/** How many addresses a network gives with this one. */
export const sizeIn = (networkPools: NetworkPools | undefined, address: bigint): bigint =>
  networkPools?.type === "manual" ? (poolHolding(networkPools.pools, address)?.size ?? 1n) : 1n;

/** The pools an instance of this zone may take from. Floating addresses need not belong to a zone. */
export function poolsFor(networkPools: NetworkPools, az: string | null): readonly Pool[] {
  if (networkPools.type === "dynamic") return [];
  if (networkPools.type === "manual") return networkPools.pools.filter((pool) => serves(pool, az));
  return networkPools.pools.filter((pool) => pool.azs === undefined || serves(pool, az));
}
