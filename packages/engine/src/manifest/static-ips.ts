import { type Report, shown } from "../documents/problems.ts";
import { contains, findOverlap, formatRange, mergeRanges, parseCidr, parseIp, sizeOfPrefix } from "./ip.ts";
import type { CloudNetwork, GroupNetwork, InstanceGroup, IpRange, ManualSubnet } from "./model.ts";

/** Too few, too many, or of no subnet. */
const IP_MISMATCH = 150002;
const WRONG_ZONE = 150007;
const BOTH_WAYS = 130014;
const IN_USE = 130008;
const NOT_STATIC = 130009;
const NOT_BASE = 16015;

interface Use {
  readonly group: InstanceGroup;
  readonly network: GroupNetwork;
  readonly definition: CloudNetwork;
  readonly where: string;
}

/** In upstream's words. */
export const ipCountProblem = (group: InstanceGroup, network: GroupNetwork): string =>
  `Instance group '${shown(group.name)}' has ${group.instances} instances but was allocated ` +
  `${network.staticIps.length} static IPs in network '${shown(network.name)}'`;

/** Address to the place that has it: addresses are unique in the whole Director. */
export type IpClaims = Map<string, string>;
export const newIpClaims = (): IpClaims => new Map();

/** The static addresses of one group on one network. */
export function checkStaticIps(report: Report, use: Use, claims: IpClaims): void {
  const { group, network, definition } = use;
  const where = `${use.where}.static_ips`;
  const count = network.staticIps.length;
  if (definition.type === "dynamic") return;
  if (definition.type === "vip" && !checkVip(report, use, where)) return;
  if (count === 0) return;
  if (count !== group.instances) {
    report.add(IP_MISMATCH, where, ipCountProblem(group, network), "Give as many addresses as instances.");
  }
  for (const address of network.staticIps) {
    const other = claims.get(address);
    if (other !== undefined) {
      report.add(
        IN_USE,
        where,
        `Failed to reserve IP '${address}' for instance group '${shown(group.name)}': already reserved at ${other}`,
        "Give each instance its own address.",
      );
    }
    claims.set(address, where);
  }
  // What the CPI has yet to choose is looked at once it has.
  if (definition.type === "manual" && definition.subnets.every(({ range }) => range !== ""))
    checkManual(report, use, where, definition.subnets);
}

function checkVip(report: Report, { network, definition, group }: Use, where: string): boolean {
  const automatic = definition.type === "vip" && definition.subnets.length > 0;
  const listed = network.staticIps.length > 0;
  if (automatic && listed) {
    report.add(
      BOTH_WAYS,
      where,
      `IPs cannot be specified in both the instance group and the cloud config: '${shown(network.name)}' gives out the addresses of its subnets itself`,
      "Remove static_ips here, or the subnets from the network.",
    );
  } else if (!automatic && !listed && group.instances > 0) {
    report.add(
      IP_MISMATCH,
      where,
      `'${shown(network.name)}' is a vip network without subnets: the group must say which addresses it wants`,
      "Give static_ips, one for each instance.",
    );
  }
  return listed && !automatic;
}

interface Pool {
  readonly range: IpRange;
  readonly azs: readonly string[] | undefined;
  readonly reserved: readonly IpRange[];
  /** The first, the last, and the gateway's. */
  readonly kept: readonly bigint[];
  readonly static: readonly IpRange[];
  /** Number of addresses that each instance gets. */
  readonly size: bigint;
}

const poolOf = (subnet: ManualSubnet): readonly Pool[] => {
  const range = parseCidr(subnet.range.trim());
  if (range === undefined) return [];
  return [
    {
      size: subnet.prefix === undefined ? 1n : sizeOfPrefix(range.first, subnet.prefix),
      range,
      azs: subnet.azs,
      reserved: mergeRanges(subnet.reserved),
      kept: [range.first, range.last, ...[parseIp(subnet.gateway ?? "") ?? []].flat()],
      static: mergeRanges(subnet.static),
    },
  ];
};

function checkManual(report: Report, use: Use, where: string, subnets: readonly ManualSubnet[]): void {
  const pools = subnets.flatMap(poolOf);
  const name = shown(use.network.name);
  const group = shown(use.group.name);
  for (const address of use.network.staticIps) {
    const ip = parseIp(address) ?? 0n;
    const pool = pools.find((candidate) => contains(candidate.range, ip));
    const one = { first: ip, last: ip + (pool?.size ?? 1n) - 1n };
    const noSubnet = `Instance group '${group}' with network '${name}' declares static ip '${address}', which belongs to no subnet`;
    if (pool === undefined) {
      report.add(IP_MISMATCH, where, noSubnet, "Choose an address of one of the network's ranges.");
    } else if ((ip - pool.range.first) % pool.size !== 0n) {
      report.add(
        NOT_BASE,
        where,
        `${address} is not the first address of a prefix on network '${name}'`,
        "Give the first address of each prefix.",
      );
    } else if (pool.kept.includes(ip) || findOverlap(pool.reserved, one) !== undefined) {
      // Upstream has the same words for what is outside and what is kept back.
      report.add(
        IP_MISMATCH,
        where,
        `${noSubnet}: it is reserved, the gateway's, or the first or last one of ${formatRange(pool.range)}`,
        "Choose another address.",
      );
    } else if (findOverlap(pool.static, { first: ip, last: ip }) === undefined) {
      report.add(
        NOT_STATIC,
        where,
        `IP '${address}' on network '${name}' does not belong to static pool`,
        "Choose an address of the subnet's static ranges, or add it to them in the cloud config.",
      );
    } else if (pool.azs !== undefined && !pool.azs.some((az) => use.group.azs?.includes(az))) {
      report.add(
        WRONG_ZONE,
        where,
        `Instance group '${group}' declares static ip '${address}' which does not belong to any of the instance group's availability zones: it is in ${pool.azs.map(shown).join(", ")}`,
        "Choose an address of the group's zones, or add the zone to the group.",
      );
    }
  }
}
