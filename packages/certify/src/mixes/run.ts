import type { CertifyCloud } from "@slipway/cpi-sdk/certify-adapter";
import { messageTrail } from "@slipway/kernel/errors";
import { EIGHT_MIXES, type MixOf8 } from "../matrix/mixes.ts";
import { inTurns } from "../matrix/run.ts";
import { disagreements } from "./judge.ts";
import { playMix } from "./play.ts";
import type { Row, Seen } from "./row.ts";
import { Stage, type Tools } from "./stage.ts";

/** Mostly waiting for processes; more at once only makes each of them slower on a small machine. */
const AT_ONCE = 2;

export type Pair = Pick<MixOf8, "director" | "cpi">;

export const PAIRS: readonly Pair[] = ([2, 1] as const).flatMap((director) =>
  ([2, 1] as const).map((cpi) => ({ director, cpi })),
);

/**
 * Plays the eight mixes with real processes: four Directors, each with its CPI, each with two stemcells. The row without
 * registry comes first on its Director: after it, none must have been started. Tests may play some of the pairs only.
 */
export async function runMixes(
  tools: Tools,
  onRow: (row: Row) => void = () => {},
  pairs: readonly Pair[] = PAIRS,
): Promise<readonly Row[]> {
  const cloud = await tools.openCloud();
  const rows: Row[] = [];
  try {
    rows.push(...(await inTurns(pairs, AT_ONCE, (pair) => playPair(pair, cloud, tools, onRow))).flat());
  } finally {
    await cloud.close();
  }
  tools.signal.throwIfAborted();
  return EIGHT_MIXES.flatMap((mix) => rows.find((row) => isOf(row, mix)) ?? []);
}

const isOf = (row: MixOf8, mix: MixOf8): boolean =>
  row.director === mix.director && row.cpi === mix.cpi && row.stemcell === mix.stemcell;

/** Never fails: what goes wrong is said in the rows, and the other Directors go on. */
async function playPair(
  pair: Pair,
  cloud: CertifyCloud,
  tools: Tools,
  onRow: (row: Row) => void,
): Promise<readonly Row[]> {
  const mixes = ([2, 1] as const).map((stemcell) => ({ ...pair, stemcell }));
  const rows: Row[] = [];
  const add = (row: Row) => {
    rows.push(row);
    if (!tools.signal.aborted) onRow(row);
  };
  let stage: Stage | undefined;
  try {
    stage = await Stage.open(pair, cloud, tools);
    for (const mix of mixes) add(await playRow(mix, stage, tools));
  } catch (error) {
    for (const mix of mixes.slice(rows.length)) add(rowOf(nothing(mix), [messageTrail(error)], 0));
  } finally {
    await stage?.close();
  }
  return rows;
}

async function playRow(mix: MixOf8, stage: Stage, tools: Tools): Promise<Row> {
  const begun = tools.clock.monotonic();
  const seconds = () => Math.round((tools.clock.monotonic() - begun) / 100) / 10;
  const overlooked = stage.blind.length;
  try {
    const seen = await playMix(mix, stage);
    return rowOf(seen, [...stage.blind.slice(overlooked), ...disagreements(seen)], seconds());
  } catch (error) {
    const seen = { ...nothing(mix), cpiSaid: stage.notes.cpiSaid, calls: stage.notes.calls };
    return rowOf(seen, [...stage.blind.slice(overlooked), messageTrail(error)], seconds());
  }
}

const nothing = (mix: MixOf8): Seen => ({
  ...mix,
  cpiSaid: null,
  calls: [],
  moments: [],
  told: [],
  left: [],
});

const rowOf = (seen: Seen, problems: readonly string[], seconds: number): Row => ({
  ...seen,
  agrees: problems.length === 0,
  problems,
  seconds,
});
