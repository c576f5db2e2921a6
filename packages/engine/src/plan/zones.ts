import type { Report } from "../documents/problems.ts";
import type { InstanceGroup } from "../manifest/model.ts";
import { type Candidate, compare } from "./candidates.ts";

/** The placement of one instance of a group: its zone, and the existing instance that has it. */
export interface Placement {
  readonly az: string | null;
  /** Undefined: a new instance. */
  readonly candidate: Candidate | undefined;
  /** Addresses the manifest gives this placement, by network name. */
  readonly statics: ReadonlyMap<string, bigint>;
}

export interface GroupPlacement {
  readonly placements: readonly Placement[];
  /** Existing instances without a placement. */
  readonly surplus: readonly Candidate[];
}

const NO_STATICS: ReadonlyMap<string, bigint> = new Map();
export const hasDisk = (candidate: Candidate): boolean => candidate.record.disks.length > 0;

/** Placements for a group without static addresses: disks stay where they are, the rest is spread over the zones. */
export function placeByZone(
  group: InstanceGroup,
  count: number,
  candidates: readonly Candidate[],
  fraction: (() => number) | undefined,
  report: Report,
): GroupPlacement {
  refuseIgnoredOutside(group, count, candidates, report);
  const zones = group.azs === undefined || group.azs.length === 0 ? undefined : [...new Set(group.azs)];
  const placements: Placement[] = [];
  const taken = new Set<Candidate>();
  const placed = new Map<string | null, number>((zones ?? [null]).map((az) => [az, 0]));
  const place = (az: string | null, candidate: Candidate | undefined) => {
    placements.push({ az, candidate, statics: NO_STATICS });
    if (candidate !== undefined) taken.add(candidate);
    placed.set(az, (placed.get(az) ?? 0) + 1);
  };
  const zoneOf = (candidate: Candidate) => (zones === undefined ? null : candidate.az);

  for (const one of candidates) if (one.record.ignore) place(zoneOf(one), one);
  for (const one of candidates)
    if (placements.length < count && !taken.has(one) && hasDisk(one) && placed.has(zoneOf(one)))
      place(zoneOf(one), one);

  const waiting = new Map<string | null, Candidate[]>([...placed.keys()].map((az) => [az, []]));
  for (const one of [...candidates].reverse()) if (!taken.has(one)) waiting.get(zoneOf(one))?.push(one);
  while (placements.length < count) {
    const az = nextZone(placed, waiting, fraction);
    place(az, waiting.get(az)?.pop());
  }
  return { placements, surplus: candidates.filter((one) => !taken.has(one)) };
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
