import type { Report } from "../documents/problems.ts";
import type { InstanceGroup } from "../manifest/model.ts";
import { type Candidate, compare } from "./candidates.ts";

/** A place in a group: in which zone, and who has it. */
export interface Seat {
  readonly az: string | null;
  /** Undefined: a new instance. */
  readonly candidate: Candidate | undefined;
  /** Addresses the manifest gives this seat, by network name. */
  readonly statics: ReadonlyMap<string, number>;
}

export interface Seating {
  readonly seats: readonly Seat[];
  /** Existing instances without a seat. */
  readonly surplus: readonly Candidate[];
}

const NO_STATICS: ReadonlyMap<string, number> = new Map();
export const hasDisk = (candidate: Candidate): boolean => candidate.record.disks.length > 0;

/** Seats for a group without static addresses: disks stay where they are, the rest is spread over the zones. */
export function seatByZone(
  group: InstanceGroup,
  count: number,
  candidates: readonly Candidate[],
  fraction: (() => number) | undefined,
  report: Report,
): Seating {
  refuseIgnoredOutside(group, count, candidates, report);
  const zones = group.azs === undefined || group.azs.length === 0 ? undefined : [...new Set(group.azs)];
  const seats: Seat[] = [];
  const seated = new Set<Candidate>();
  const placed = new Map<string | null, number>((zones ?? [null]).map((az) => [az, 0]));
  const seat = (az: string | null, candidate: Candidate | undefined) => {
    seats.push({ az, candidate, statics: NO_STATICS });
    if (candidate !== undefined) seated.add(candidate);
    placed.set(az, (placed.get(az) ?? 0) + 1);
  };
  const zoneOf = (candidate: Candidate) => (zones === undefined ? null : candidate.az);

  for (const one of candidates) if (one.record.ignore) seat(zoneOf(one), one);
  for (const one of candidates)
    if (seats.length < count && !seated.has(one) && hasDisk(one) && placed.has(zoneOf(one)))
      seat(zoneOf(one), one);

  const waiting = new Map<string | null, Candidate[]>([...placed.keys()].map((az) => [az, []]));
  for (const one of [...candidates].reverse()) if (!seated.has(one)) waiting.get(zoneOf(one))?.push(one);
  while (seats.length < count) {
    const az = nextZone(placed, waiting, fraction);
    seat(az, waiting.get(az)?.pop());
  }
  return { seats, surplus: candidates.filter((one) => !seated.has(one)) };
}

/** The emptiest zone; of several, the one with most existing instances to use; without any, the first by name. */
function nextZone(
  placed: ReadonlyMap<string | null, number>,
  waiting: ReadonlyMap<string | null, readonly Candidate[]>,
  fraction: (() => number) | undefined,
): string | null {
  const fewest = Math.min(...placed.values());
  const tied = [...placed].filter(([, count]) => count === fewest).map(([az]) => az);
  tied.sort((a, b) => compare(a ?? "", b ?? ""));
  let best: string | null | undefined;
  let most = 0;
  for (const az of tied) {
    const there = waiting.get(az)?.length ?? 0;
    if (there > most) [best, most] = [az, there];
  }
  if (best !== undefined) return best;
  const at = fraction === undefined ? 0 : Math.min(Math.floor(fraction() * tied.length), tied.length - 1);
  return tied[at] ?? null;
}

function refuseIgnoredOutside(
  group: InstanceGroup,
  count: number,
  candidates: readonly Candidate[],
  report: Report,
): void {
  const ignored = candidates.filter((one) => one.record.ignore);
  const where = `instance_groups/${group.name}`;
  if (ignored.length > count)
    report.add(
      190021,
      `${where}/instances`,
      `Instance Group '${group.name}' has ${ignored.length} ignored instance(s). ${count} instance(s) of that instance group were requested. Deleting ignored instances is not allowed`,
      "Ask for at least as many instances, or unignore them first.",
    );
  const { azs } = group;
  if (azs === undefined) return;
  const gone = [...new Set(ignored.flatMap(({ az }) => (az === null || azs.includes(az) ? [] : [az])))];
  if (gone.length > 0)
    report.add(
      190020,
      `${where}/azs`,
      `Instance Group '${group.name}' no longer contains AZs ${JSON.stringify(gone)} where ignored instance(s) exist`,
      "Put the zones back, or unignore the instances first.",
    );
}
