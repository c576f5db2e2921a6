export type Zone = string | null;

/** One static address: the zones it may serve in. */
export interface Choice {
  azs: readonly Zone[];
}

/** A search that finds nothing within this many tries is given up: no sane manifest comes near it. */
const TRIES = 200_000;

/**
 * Decides for every address one zone, so that all networks have equally many in each zone, as evenly as can be.
 * `taken` is how many instances each zone has already. False when there is no such way.
 */
export function spreadEvenly(
  lists: readonly (readonly Choice[])[],
  taken: ReadonlyMap<Zone, number>,
): boolean {
  const [first] = lists;
  if (first === undefined) return true;
  if (lists.length === 1) {
    leastLoaded(first, new Map(taken));
    return true;
  }
  if (lists.some((list) => list.length !== first.length)) return false;
  const counts = bestCounts(lists, taken);
  return counts !== undefined && lists.every((list) => fill(list, counts));
}

function leastLoaded(list: readonly Choice[], load: Map<Zone, number>): void {
  const at = (az: Zone) => load.get(az) ?? 0;
  for (const { azs } of list) if (azs.length === 1) load.set(azs[0] ?? null, at(azs[0] ?? null) + 1);
  for (const choice of list) {
    if (choice.azs.length < 2) continue;
    const az = choice.azs.reduce((best, one) => (at(one) < at(best) ? one : best));
    load.set(az, at(az) + 1);
    choice.azs = [az];
  }
}

/** How many per zone: possible for every network, and the evenest of those. */
function bestCounts(
  lists: readonly (readonly Choice[])[],
  taken: ReadonlyMap<Zone, number>,
): ReadonlyMap<Zone, number> | undefined {
  const zones = [...new Set(lists.flatMap((list) => list.flatMap(({ azs }) => azs)))];
  const total = lists[0]?.length ?? 0;
  const bounds = zones.map((az) => ({
    low: Math.max(...lists.map((list) => list.filter(({ azs }) => azs.length === 1 && azs[0] === az).length)),
    high: Math.min(...lists.map((list) => list.filter(({ azs }) => azs.includes(az)).length)),
  }));
  let best: readonly number[] | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  let tries = 0;
  const counts: number[] = [];
  const search = (at: number, left: number, score: number): void => {
    if (score >= bestScore || tries > TRIES) return;
    const bound = bounds[at];
    if (bound === undefined) {
      tries += 1;
      if (left !== 0 || !lists.every((list) => possible(list, zones, counts))) return;
      [best, bestScore] = [[...counts], score];
      return;
    }
    const there = taken.get(zones[at] ?? null) ?? 0;
    for (let count = bound.low; count <= Math.min(bound.high, left); count += 1) {
      counts[at] = count;
      search(at + 1, left - count, score + (there + count) ** 2);
    }
  };
  search(0, total, 0);
  return best && new Map(zones.map((az, at) => [az, best?.[at] ?? 0]));
}

/** Hall's condition: no set of zones has more addresses that can go nowhere else than they can take. */
function possible(list: readonly Choice[], zones: readonly Zone[], counts: readonly number[]): boolean {
  for (let set = 1; set < 2 ** zones.length; set += 1) {
    const inside = new Set(zones.filter((_, at) => (set >> at) & 1));
    const capacity = counts.reduce((sum, count, at) => sum + ((set >> at) & 1 ? count : 0), 0);
    if (list.filter(({ azs }) => azs.every((az) => inside.has(az))).length > capacity) return false;
  }
  return true;
}

/** Gives every address a zone with exactly these counts, moving earlier ones where needed. */
function fill(list: readonly Choice[], counts: ReadonlyMap<Zone, number>): boolean {
  const inZone = new Map<Zone, Choice[]>([...counts.keys()].map((az) => [az, []]));
  const there = (az: Zone): Choice[] => inZone.get(az) ?? [];
  const settle = (choice: Choice, seen: Set<Zone>): boolean => {
    // Who is listed first stays where it is as long as there is room elsewhere.
    const roomy = choice.azs.find((az) => !seen.has(az) && there(az).length < (counts.get(az) ?? 0));
    if (roomy !== undefined) {
      there(roomy).push(choice);
      return true;
    }
    for (const az of choice.azs) {
      if (seen.has(az)) continue;
      seen.add(az);
      const movable = there(az).findIndex((other) => settle(other, seen));
      if (movable < 0) continue;
      there(az).splice(movable, 1, choice);
      return true;
    }
    return false;
  };
  if (!list.every((choice) => settle(choice, new Set()))) return false;
  for (const [az, choices] of inZone) for (const choice of choices) choice.azs = [az];
  return true;
}
