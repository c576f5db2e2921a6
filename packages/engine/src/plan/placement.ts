import type { Report } from "../documents/problems.ts";
import { parseIp } from "../manifest/ip.ts";
import type { InstanceGroup } from "../manifest/model.ts";
import { ipCountProblem } from "../manifest/static-ips.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { Candidate, Candidates } from "./candidates.ts";
import { refuseIgnoredNetworks } from "./ignored-networks.ts";
import type { PlanInput } from "./model.ts";
import type { PoolsByNetwork } from "./network-pools.ts";
import { isStatic, placeByAddress } from "./static-placement.ts";
import { type GroupPlacement, type Placement, placeByZone } from "./zones.ts";

/** An instance of the plan: who it is and where. */
export interface Placed {
  readonly group: InstanceGroup;
  readonly uuid: InstanceUuid;
  readonly index: number;
  readonly az: string | null;
  readonly bootstrap: boolean;
  readonly recorded: InstanceRecord | undefined;
  readonly statics: ReadonlyMap<string, bigint>;
}

export interface PlacedGroup {
  readonly group: InstanceGroup;
  /** Instances sorted by index. */
  readonly placed: readonly Placed[];
  readonly surplus: readonly InstanceRecord[];
}

export function placeGroups(
  input: Pick<PlanInput, "manifest" | "newUuid" | "fraction">,
  candidates: Candidates,
  poolsByNetwork: PoolsByNetwork,
  report: Report,
): readonly PlacedGroup[] {
  const { manifest } = input;
  const fraction = manifest.features.randomizeAzPlacement ? input.fraction : undefined;
  return manifest.groups.map((group) => {
    const mine = candidates.byGroup.get(group.name) ?? [];
    const placement = place(group, mine, poolsByNetwork, fraction, report);
    const placements = withVips(group, placement.placements, poolsByNetwork, report);
    return {
      group,
      placed: identify(group, placements, mine, input.newUuid),
      surplus: placement.surplus.map(({ record }) => record),
    };
  });
}

function place(
  group: InstanceGroup,
  candidates: readonly Candidate[],
  poolsByNetwork: PoolsByNetwork,
  fraction: (() => number) | undefined,
  report: Report,
): GroupPlacement {
  refuseIgnoredNetworks(group, candidates, report);
  const byAddress = group.networks.some(
    (one) => isStatic(one) && poolsByNetwork.get(one.name)?.type === "manual",
  );
  return byAddress
    ? placeByAddress(group, candidates, poolsByNetwork, report)
    : placeByZone(group, group.instances, candidates, fraction, report);
}

/** Places floating addresses, which have no zone: an instance keeps the one it holds, the rest are given out in order. */
function withVips(
  group: InstanceGroup,
  placements: readonly Placement[],
  poolsByNetwork: PoolsByNetwork,
  report: Report,
): readonly Placement[] {
  let given = placements;
  for (const network of group.networks) {
    if (poolsByNetwork.get(network.name)?.type !== "vip" || !isStatic(network)) continue;
    const free = new Set(network.staticIps);
    const kept = given.map((one) => {
      const held = one.candidate?.record.ips.find((ip) => free.has(ip.address));
      if (held !== undefined) free.delete(held.address);
      return held?.address;
    });
    const rest = [...free];
    given = given.map((one, at) => {
      const text = kept[at] ?? rest.shift();
      const address = text === undefined ? undefined : parseIp(text);
      return address === undefined
        ? one
        : { ...one, statics: new Map([...one.statics, [network.name, address]]) };
    });
    if (network.staticIps.length < placements.length)
      report.add(
        150002,
        `instance_groups/${group.name}/networks/${network.name}/static_ips`,
        ipCountProblem(group, network),
        "List one static IP per instance.",
      );
  }
  return given;
}

/**
 * Assigns ids and indices, which last as long as the instance; a new one takes the lowest index that no other has or just had.
 * Migrated instances take theirs in the order of `migrated_from`, as upstream.
 */
function identify(
  group: InstanceGroup,
  placements: readonly Placement[],
  candidates: readonly Candidate[],
  newUuid: () => InstanceUuid,
): readonly Placed[] {
  const used = new Set(
    candidates.filter(({ record }) => record.group === group.name).map(({ record }) => record.index),
  );
  let next = 0;
  const newIndex = (): number => {
    while (used.has(next)) next += 1;
    used.add(next);
    return next;
  };
  const known = placements.filter(({ candidate }) => candidate !== undefined);
  const order = new Map(candidates.map((candidate, at) => [candidate, at]));
  const place = ({ candidate }: Placement) => (candidate && order.get(candidate)) ?? 0;
  known.sort((a, b) => place(a) - place(b));
  const placed = [...known, ...placements.filter(({ candidate }) => candidate === undefined)].map((one) => {
    const record = one.candidate?.record;
    const index = record !== undefined && record.group === group.name ? record.index : newIndex();
    const uuid = record?.uuid ?? newUuid();
    return { group, uuid, index, az: one.az, recorded: record, statics: one.statics };
  });
  placed.sort((a, b) => a.index - b.index);
  const holders = placed.filter(({ recorded }) => recorded?.group === group.name && recorded.bootstrap);
  const leader = holders.length === 1 ? holders[0] : placed[0];
  return placed.map((one) => ({ ...one, bootstrap: one === leader }));
}
