import type { Report } from "../documents/problems.ts";
import { parseIp } from "../manifest/ip.ts";
import type { InstanceGroup } from "../manifest/model.ts";
import type { InstanceUuid } from "../model/names.ts";
import { activeVm, type InstanceRecord } from "../model/records.ts";
import { type Candidate, type Candidates, compare } from "./candidates.ts";
import type { PlanInput } from "./model.ts";
import type { Rooms } from "./rooms.ts";
import { isStatic, seatByAddress } from "./static-seats.ts";
import { type Seat, type Seating, seatByZone } from "./zones.ts";

/** An instance of the plan: who it is and where. */
export interface Placed {
  readonly group: InstanceGroup;
  readonly uuid: InstanceUuid;
  readonly index: number;
  readonly az: string | null;
  readonly bootstrap: boolean;
  readonly recorded: InstanceRecord | undefined;
  readonly statics: ReadonlyMap<string, number>;
}

export interface PlacedGroup {
  readonly group: InstanceGroup;
  /** By index. */
  readonly placed: readonly Placed[];
  readonly surplus: readonly InstanceRecord[];
}

export function placeGroups(
  input: Pick<PlanInput, "manifest" | "newUuid" | "fraction">,
  candidates: Candidates,
  rooms: Rooms,
  report: Report,
): readonly PlacedGroup[] {
  const { manifest } = input;
  const fraction = manifest.features.randomizeAzPlacement ? input.fraction : undefined;
  return manifest.groups.map((group) => {
    const mine = candidates.byGroup.get(group.name) ?? [];
    const seating = seat(group, mine, rooms, fraction, report);
    const seats = withVips(group, seating.seats, rooms, report);
    return {
      group,
      placed: identify(group, seats, mine, input.newUuid),
      surplus: seating.surplus.map(({ record }) => record),
    };
  });
}

function seat(
  group: InstanceGroup,
  candidates: readonly Candidate[],
  rooms: Rooms,
  fraction: (() => number) | undefined,
  report: Report,
): Seating {
  // An errand's VMs come when it runs: a deploy keeps those that are there, and makes none.
  if (group.lifecycle === "errand") {
    const there = candidates.filter((one) => one.record.ignore || activeVm(one.record) !== undefined);
    const idle = candidates.filter((one) => !there.includes(one));
    const seating = seatByZone(group, Math.min(group.instances, there.length), there, fraction, report);
    const room = Math.max(0, group.instances - seating.seats.length);
    return {
      seats: [
        ...seating.seats,
        ...idle.slice(0, room).map((one) => ({ az: one.az, candidate: one, statics: new Map() })),
      ],
      surplus: [...seating.surplus, ...idle.slice(room)],
    };
  }
  const byAddress = group.networks.some((one) => isStatic(one) && rooms.get(one.name)?.type === "manual");
  return byAddress
    ? seatByAddress(group, candidates, rooms, report)
    : seatByZone(group, group.instances, candidates, fraction, report);
}

/** Floating addresses follow nobody's zone: who holds one keeps it, the rest are given out in order. */
function withVips(
  group: InstanceGroup,
  seats: readonly Seat[],
  rooms: Rooms,
  report: Report,
): readonly Seat[] {
  let given = seats;
  for (const network of group.networks) {
    if (rooms.get(network.name)?.type !== "vip" || !isStatic(network)) continue;
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
    if (network.staticIps.length < seats.length)
      report.add(
        150002,
        `instance_groups/${group.name}/networks/${network.name}/static_ips`,
        `Instance group '${group.name}' with network '${network.name}' has ${seats.length} instances but was allocated ${network.staticIps.length} static IP(s)`,
        "List one static IP per instance.",
      );
  }
  return given;
}

/** Ids and indices last as long as the instance; a new one takes the lowest index nobody has or had a moment ago. */
function identify(
  group: InstanceGroup,
  seats: readonly Seat[],
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
  const known = seats.filter(({ candidate }) => candidate !== undefined);
  known.sort((a, b) => rank(a, group) - rank(b, group) || bySeniority(a, b));
  const placed = [...known, ...seats.filter(({ candidate }) => candidate === undefined)].map((one) => {
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

const rank = (seat: Seat, group: InstanceGroup): number =>
  seat.candidate?.record.group === group.name ? 0 : 1;

const bySeniority = (a: Seat, b: Seat): number =>
  (a.candidate?.record.index ?? 0) - (b.candidate?.record.index ?? 0) ||
  compare(a.candidate?.record.uuid ?? "", b.candidate?.record.uuid ?? "");
