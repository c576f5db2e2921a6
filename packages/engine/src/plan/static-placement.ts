import type { Report } from "../documents/problems.ts";
import { formatIp, parseIp } from "../manifest/ip.ts";
import type { GroupNetwork, InstanceGroup } from "../manifest/model.ts";
import { ipCountProblem } from "../manifest/static-ips.ts";
import { firstAddress } from "../model/records.ts";
import type { Candidate } from "./candidates.ts";
import { type Choice, spreadEvenly, type Zone } from "./distribution.ts";
import { networksDiffer } from "./ignored-networks.ts";
import type { PoolsByNetwork } from "./network-pools.ts";
import { holds } from "./ranges.ts";
import { type GroupPlacement, hasDisk, type Placement } from "./zones.ts";

interface StaticIp extends Choice {
  readonly address: bigint;
  claimed: boolean;
}

interface StaticList {
  readonly network: string;
  readonly ips: readonly StaticIp[];
  readonly byAddress: ReadonlyMap<bigint, StaticIp>;
  /** Index at which the search for a free address in a zone continues: claimed addresses are never free again. */
  readonly cursors: Map<Zone, number>;
}

export const isStatic = (network: GroupNetwork): boolean => network.staticIps.length > 0;

/** Placements for a group whose manual networks give addresses: who holds one keeps it, the zones follow the addresses. */
export function placeByAddress(
  group: InstanceGroup,
  candidates: readonly Candidate[],
  poolsByNetwork: PoolsByNetwork,
  report: Report,
): GroupPlacement {
  const lists = readLists(group, poolsByNetwork, report);
  if (lists === undefined) return { placements: [], surplus: [] };
  refuseRemovedAddresses(group, candidates, report);
  const placements: Placement[] = [];
  const taken = new Set<Candidate>();
  const passed = new Set<Candidate>();
  const place = (az: string | null, candidate: Candidate | undefined, chosen: Map<string, StaticIp>) => {
    const statics = new Map<string, bigint>();
    for (const [network, ip] of chosen) {
      ip.claimed = true;
      ip.azs = [az];
      statics.set(network, ip.address);
    }
    placements.push({ az, candidate, statics });
    if (candidate !== undefined) taken.add(candidate);
  };

  const zoneOf = (one: Candidate): string | null => (group.azs === undefined ? null : one.az);
  for (const one of candidates) {
    const held = heldBy(one, lists);
    if (held.length === 0 || placements.length >= group.instances) continue;
    const az = zoneOf(one);
    const chosen = new Map<string, StaticIp>();
    for (const { list, ip } of held)
      if (!chosen.has(list.network) && ip.azs.includes(az)) chosen.set(list.network, ip);
    if (chosen.size === 0) {
      const address = formatIp(held[0]?.ip.address ?? 0n);
      report.add(
        130010,
        `instance_groups/${group.name}/networks`,
        `Existing instance '${one.record.group}/${one.record.index}' is using IP '${address}' in availability zone '${az ?? ""}'`,
        `Give '${address}' to a subnet of that zone, or take it out of static_ips so that the instance gets another.`,
      );
      passed.add(one);
      continue;
    }
    place(az, one, chosen);
  }
  for (const one of [...candidates.filter(hasDisk), ...candidates.filter((other) => !hasDisk(other))]) {
    if (taken.has(one) || passed.has(one) || placements.length >= group.instances) continue;
    const chosen = freeIn(lists, zoneOf(one), new Map());
    if (chosen !== undefined) place(zoneOf(one), one, chosen);
  }
  const complete = placements.map((one) => completed(one, lists, group, report));
  const left = group.instances - placements.length;
  if (left > 0) complete.push(...newPlacements(left, complete, lists, group, report));
  const surplus = candidates.filter((one) => !taken.has(one));
  if (surplus.some((one) => one.record.ignore)) reportIgnoredIp(group, report);
  return { placements: complete, surplus };
}

function readLists(
  group: InstanceGroup,
  poolsByNetwork: PoolsByNetwork,
  report: Report,
): readonly StaticList[] | undefined {
  const lists: StaticList[] = [];
  const before = report.problems.length;
  for (const network of group.networks) {
    const networkPools = poolsByNetwork.get(network.name);
    if (!isStatic(network) || networkPools?.type !== "manual") continue;
    const where = `instance_groups/${group.name}/networks/${network.name}/static_ips`;
    if (network.staticIps.length < group.instances)
      report.add(150002, where, ipCountProblem(group, network), "List one static IP per instance.");
    const ips: StaticIp[] = [];
    for (const text of network.staticIps) {
      const address = parseIp(text);
      const pool =
        address === undefined ? undefined : networkPools.pools.find((one) => holds(one.static, address));
      if (address === undefined || pool === undefined) {
        report.add(
          150002,
          where,
          `Instance group '${group.name}' with network '${network.name}' declares static ip '${text}', which belongs to no subnet`,
          "Add it to the static range of a subnet in the cloud config, or choose one that is in it.",
        );
        continue;
      }
      const azs: readonly Zone[] =
        group.azs === undefined ? [null] : (pool.azs ?? []).filter((az) => group.azs?.includes(az));
      if (azs.length === 0)
        report.add(
          150007,
          where,
          `Instance group '${group.name}' declares static ip '${text}' which does not belong to any of the instance group's availability zones`,
          `Choose an address of a subnet in ${(group.azs ?? []).join(", ")}.`,
        );
      ips.push({ address, azs, claimed: false });
    }
    const byAddress = new Map(ips.map((ip) => [ip.address, ip]));
    lists.push({ network: network.name, ips, byAddress, cursors: new Map() });
  }
  return report.problems.length === before ? lists : undefined;
}

function heldBy(
  candidate: Candidate,
  lists: readonly StaticList[],
): readonly { readonly list: StaticList; readonly ip: StaticIp }[] {
  return lists.flatMap((list) =>
    candidate.record.ips.flatMap((held) => {
      const ip = list.byAddress.get(parseIp(firstAddress(held)) ?? -1n);
      return ip === undefined || ip.claimed ? [] : [{ list, ip }];
    }),
  );
}

/** One free address of the zone on every network that has none chosen yet. */
function freeIn(
  lists: readonly StaticList[],
  az: Zone,
  chosen: ReadonlyMap<string, unknown>,
): Map<string, StaticIp> | undefined {
  const found = new Map<string, StaticIp>();
  for (const list of lists) {
    if (chosen.has(list.network)) continue;
    let at = list.cursors.get(az) ?? 0;
    while (at < list.ips.length && (list.ips[at]?.claimed || !list.ips[at]?.azs.includes(az))) at += 1;
    list.cursors.set(az, at);
    const ip = list.ips[at];
    if (ip === undefined) return undefined;
    found.set(list.network, ip);
  }
  return found;
}

function completed(
  placement: Placement,
  lists: readonly StaticList[],
  group: InstanceGroup,
  report: Report,
): Placement {
  if (lists.every((list) => placement.statics.has(list.network))) return placement;
  const chosen = freeIn(lists, placement.az, placement.statics);
  if (chosen === undefined) {
    report.add(
      130010,
      `instance_groups/${group.name}/networks`,
      "Failed to distribute static IPs to satisfy existing instance reservations",
      `Give zone '${placement.az ?? ""}' one more static IP on each of the group's networks.`,
    );
    return placement;
  }
  const statics = new Map(placement.statics);
  for (const [network, ip] of chosen) {
    ip.claimed = true;
    ip.azs = [placement.az];
    statics.set(network, ip.address);
  }
  return { ...placement, statics };
}

function newPlacements(
  count: number,
  placements: readonly Placement[],
  lists: readonly StaticList[],
  group: InstanceGroup,
  report: Report,
): readonly Placement[] {
  const taken = new Map<Zone, number>();
  for (const { az } of placements) taken.set(az, (taken.get(az) ?? 0) + 1);
  const free = lists.map((list) => list.ips.filter((ip) => !ip.claimed));
  const even = spreadEvenly(free, taken);
  const found: Placement[] = [];
  for (const first of even ? (free[0] ?? []).slice(0, count) : []) {
    const az = first.azs[0] ?? null;
    const rest = freeIn(lists, az, new Map([[lists[0]?.network ?? "", first]]));
    if (rest === undefined) break;
    const chosen = new Map<string, StaticIp>([[lists[0]?.network ?? "", first], ...rest]);
    for (const ip of chosen.values()) ip.claimed = true;
    found.push({
      az,
      candidate: undefined,
      statics: new Map([...chosen].map(([network, ip]) => [network, ip.address])),
    });
  }
  if (found.length < count)
    report.add(
      150002,
      `instance_groups/${group.name}/networks`,
      `Failed to evenly distribute static IPs between zones for instance group '${group.name}'`,
      "List for every network equally many static IPs in each zone.",
    );
  return found;
}

function refuseRemovedAddresses(
  group: InstanceGroup,
  candidates: readonly Candidate[],
  report: Report,
): void {
  const asked = new Map(group.networks.map((network) => [network.name, network]));
  for (const { record } of candidates) {
    if (!record.ignore || networksDiffer(group, record)) continue;
    if (record.ips.some((ip) => ip.static && !asked.get(ip.network)?.staticIps.includes(firstAddress(ip))))
      reportIgnoredIp(group, report);
  }
}

const reportIgnoredIp = (group: InstanceGroup, report: Report): void =>
  report.add(
    190020,
    `instance_groups/${group.name}/networks`,
    `In instance group '${group.name}', an attempt was made to remove a static ip that is used by an ignored instance. This operation is not allowed`,
    "Put the address back, or unignore the instance first.",
  );
