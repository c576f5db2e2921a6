import { seededRandom } from "../drivers/seeded-random.ts";
import type { PairPoint, PairStage, Solo } from "./play.ts";
import { PAIR_OPERATIONS } from "./table.ts";

/** One operation held at one of its points while another runs. */
export interface PairCase {
  readonly held: Solo;
  /** Number of the point, from 1. */
  readonly nth: number;
  readonly beside: Solo;
}

export interface PairsFound {
  readonly plays: number;
  /** Plays that were chosen; more than were played if the time was up. */
  readonly cases: number;
  readonly pairs: number;
  /** Points that were left out, since a lock makes the other operation wait there. */
  readonly locked: number;
  readonly broken: readonly { readonly case: string; readonly what: readonly string[] }[];
}

export interface PairsOptions {
  readonly seed: string;
  /** Number of cases to play, chosen by the seed; undefined: all. */
  readonly plays?: number | undefined;
  /** Text that the names of both operations, separated by " | ", contain. */
  readonly only: string;
  /** Returns true when no further case is to begin. The seed decides the order then. */
  readonly isOver?: (() => boolean) | undefined;
  /** Stops at the first broken case. */
  readonly untilBroken?: boolean;
  readonly say: (line: string) => void;
}

const TELL_EVERY = 100;
/** Rows that were removed slow the database down after so many plays. */
const VACUUM_EVERY = 100;

/** Writes about the task itself: a lock need not be held for them. */
const OWN =
  /^write (?:insert locks|delete locks|insert events|insert task_output|update tasks|transaction)\b/;

/** Locks that an operation holds whenever it changes something. While another task holds one of them, it waits. */
function locksAround({ points }: Solo): ReadonlySet<string> {
  const changes = points.filter(({ name }) => !OWN.test(name));
  const [first] = changes;
  return new Set(first?.locks.filter((lock) => changes.every(({ locks }) => locks.includes(lock))));
}

/** Points at which to hold an operation. Of those at which a lock keeps the other one out, the first and the last. */
export function pointsFor(held: readonly PairPoint[], beside: ReadonlySet<string>): readonly number[] {
  const isLocked = ({ locks }: PairPoint) => locks.some((lock) => beside.has(lock));
  const locked = held.flatMap((point, at) => (isLocked(point) ? [at] : []));
  const kept = new Set([locked[0], locked.at(-1)]);
  return held.flatMap((point, at) => (!isLocked(point) || kept.has(at) ? [at + 1] : []));
}

export const caseText = ({ held, nth, beside }: PairCase): string =>
  `${held.operation.name} at ${nth} (${held.points[nth - 1]?.name}) | ${beside.operation.name}`;

/** Plays pairs of operations and returns what broke. */
export async function playPairs(stage: PairStage, options: PairsOptions): Promise<PairsFound> {
  const { say } = options;
  const solos: Solo[] = [];
  for (const operation of PAIR_OPERATIONS) solos.push(await stage.solo(operation));
  const cases: PairCase[] = [];
  let locked = 0;
  let pairs = 0;
  for (const held of solos)
    for (const beside of solos) {
      const name = `${held.operation.name} | ${beside.operation.name}`;
      if (!name.includes(options.only)) continue;
      const points = pointsFor(held.points, locksAround(beside));
      pairs += 1;
      locked += held.points.length - points.length;
      cases.push(...points.map((nth) => ({ held, nth, beside })));
    }
  const chosen = sample(cases, options);
  const isOver = options.isOver ?? (() => false);
  const broken: { case: string; what: readonly string[] }[] = [];
  let plays = 0;
  for (const one of chosen) {
    if (isOver()) break;
    const { broken: what } = await stage.interleave(one.held.operation, one.nth, one.beside.operation);
    plays += 1;
    if (plays % VACUUM_EVERY === 0) await stage.vacuum();
    if (plays % TELL_EVERY === 0) say(`${plays} of ${chosen.length} plays, ${broken.length} broken`);
    if (what.length === 0) continue;
    broken.push({ case: caseText(one), what });
    say(`broken: ${caseText(one)}\n  ${what.join("\n  ")}`);
    if (options.untilBroken === true) break;
  }
  return { plays, cases: chosen.length, pairs, locked, broken };
}

function sample(
  cases: readonly PairCase[],
  { seed, plays = cases.length, isOver }: PairsOptions,
): readonly PairCase[] {
  if (plays >= cases.length && isOver === undefined) return cases;
  const random = seededRandom(seed);
  return cases
    .map((one) => ({ one, order: random.fraction() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, plays)
    .map(({ one }) => one);
}
