import type { CertifyCloud } from "@slipway/cpi-sdk/certify-adapter";
import { messageTrail } from "@slipway/kernel/errors";
import { CONTRACT, isRow, type MixPlayed } from "../matrix/contract.ts";
import type { MixOf8 } from "../matrix/mixes.ts";
import { inTurns } from "../matrix/run.ts";
import { CreateEnvLab } from "./env-lab.ts";
import { disagreements } from "./judge.ts";
import { MixLab, type MixTools } from "./mix-lab.ts";
import { playMix } from "./play.ts";
import { playEnv } from "./play-env.ts";
import type { MixObservations, MixRow } from "./row.ts";

/** Mostly waiting for processes; more at once only makes each of them slower on a small machine. */
const AT_ONCE = 2;

type Pair = Pick<MixOf8, "director" | "cpi">;

const PAIRS: readonly Pair[] = ([2, 1] as const).flatMap((director) =>
  ([2, 1] as const).map((cpi) => ({ director, cpi })),
);

/**
 * Plays the mixes with real processes: four Directors, each with its CPI, each with two stemcells. The row without
 * registry comes first on its Director: after it, none must have been started. Tests may play some of them only.
 */
export async function runMixes(
  tools: MixTools,
  onRow: (row: MixRow) => void = () => {},
  wanted: readonly MixPlayed[] = CONTRACT,
): Promise<readonly MixRow[]> {
  const cloud = await tools.openCloud();
  const rows: MixRow[] = [];
  const turns = (["Director", "create-env"] as const).flatMap((deployer) =>
    PAIRS.flatMap((pair) => {
      const mixes = mixesOf(deployer, pair, wanted);
      if (mixes.length === 0) return [];
      return deployer === "Director"
        ? () => playPair(pair, mixes, cloud, tools, onRow)
        : () => playEnvs(pair.cpi, mixes, cloud, tools, onRow);
    }),
  );
  try {
    rows.push(...(await inTurns(turns, AT_ONCE, (turn) => turn())).flat());
  } finally {
    await cloud.close();
  }
  tools.signal.throwIfAborted();
  return CONTRACT.flatMap((mix) => rows.find((row) => isRow(row, mix)) ?? []);
}

const mixesOf = (
  deployer: MixPlayed["deployer"],
  pair: Pair,
  wanted: readonly MixPlayed[],
): readonly MixPlayed[] =>
  wanted
    .filter((row) => row.deployer === deployer && row.director === pair.director && row.cpi === pair.cpi)
    .map(({ director, cpi, stemcell, agent }) => ({ deployer, director, cpi, stemcell, agent }))
    .sort((a, b) => b.stemcell - a.stemcell);

/** Each with a directory and a state file of its own. */
async function playEnvs(
  cpi: 1 | 2,
  mixes: readonly MixPlayed[],
  cloud: CertifyCloud,
  tools: MixTools,
  onRow: (row: MixRow) => void,
): Promise<readonly MixRow[]> {
  const rows: MixRow[] = [];
  for (const mix of mixes) {
    let stage: CreateEnvLab | undefined;
    let row: MixRow;
    try {
      const opened = await CreateEnvLab.open(cpi, cloud, tools);
      stage = opened;
      row = await playRow(mix, opened, tools, () => playEnv(mix, opened));
    } catch (error) {
      row = rowOf(nothing(mix), [messageTrail(error)], 0);
    } finally {
      await stage?.close();
    }
    rows.push(row);
    if (!tools.signal.aborted) onRow(row);
  }
  return rows;
}

/** Never fails: what goes wrong is said in the rows, and the other Directors go on. */
async function playPair(
  pair: Pair,
  mixes: readonly MixPlayed[],
  cloud: CertifyCloud,
  tools: MixTools,
  onRow: (row: MixRow) => void,
): Promise<readonly MixRow[]> {
  const rows: MixRow[] = [];
  const add = (row: MixRow) => {
    rows.push(row);
    if (!tools.signal.aborted) onRow(row);
  };
  let stage: MixLab | undefined;
  try {
    const opened = await MixLab.open(pair, cloud, tools);
    stage = opened;
    for (const mix of mixes) add(await playRow(mix, opened, tools, () => playMix(mix, opened)));
  } catch (error) {
    for (const mix of mixes.slice(rows.length)) add(rowOf(nothing(mix), [messageTrail(error)], 0));
  } finally {
    await stage?.close();
  }
  return rows;
}

async function playRow(
  mix: MixPlayed,
  stage: Pick<MixLab, "blind" | "notes">,
  tools: MixTools,
  play: () => Promise<MixObservations>,
): Promise<MixRow> {
  const begun = tools.clock.monotonic();
  const seconds = () => Math.round((tools.clock.monotonic() - begun) / 100) / 10;
  const overlooked = stage.blind.length;
  try {
    const seen = await play();
    return rowOf(seen, [...stage.blind.slice(overlooked), ...disagreements(seen)], seconds());
  } catch (error) {
    const seen = { ...nothing(mix), cpiSaid: stage.notes.cpiSaid, calls: stage.notes.calls };
    return rowOf(seen, [...stage.blind.slice(overlooked), messageTrail(error)], seconds());
  }
}

const nothing = (mix: MixPlayed): MixObservations => ({
  ...mix,
  cpiSaid: null,
  calls: [],
  moments: [],
  told: [],
  left: [],
});

const rowOf = (seen: MixObservations, problems: readonly string[], seconds: number): MixRow => ({
  ...seen,
  agrees: problems.length === 0,
  problems,
  seconds,
});
