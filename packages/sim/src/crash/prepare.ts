import { systemClock } from "@slipway/kernel/clock";
import { brokenInvariants } from "../world/invariants.ts";
import type { ChildReport, Job, StartedStep } from "./child-order.ts";
import { CrashLab, type CrashSnapshot } from "./crash-lab.ts";
import type { Lane } from "./lane.ts";
import { outcomeOf } from "./outcome.ts";
import { type Passed, type PointId, pointText } from "./points.ts";
import type { CrashScenario, Move } from "./scenario.ts";

/** A scenario brought to the moment before its move, and the points that move passes. */
export interface PreparedScenario {
  readonly scenario: CrashScenario;
  readonly start: CrashSnapshot;
  /** Number of tasks at the start. */
  readonly tasksBefore: number;
  readonly points: readonly Passed[];
  readonly steps: readonly StartedStep[];
  /** Duration of the move in a separate process, its start included. */
  readonly tookMs: number;
  /** End states of its tasks without a crash, in order. */
  readonly states: readonly string[];
  readonly outcome: object;
  /** Content of the disks in use, which no crash may change. */
  readonly data: ReadonlySet<string>;
  /** The disks it is to delete. */
  readonly deletes: readonly string[];
  /** Problems before the move, which is to mend them, such as a VM that no record names. */
  readonly wrongBefore: readonly string[];
}

/** Fails when the scenario is not as it should be without any crash, or takes another way at another pace. */
export async function prepare(
  lane: Lane,
  scenario: CrashScenario,
  { paces, say }: { readonly paces: "one" | "two"; readonly say: (line: string) => void },
): Promise<PreparedScenario> {
  const stage = await CrashLab.fresh(lane, scenario);
  for (const move of scenario.before) await makeMove(move, stage, scenario.name);
  stage.passDays(scenario.daysLater ?? 0);
  const view = await stage.view();
  const deletes = scenario.deletes?.(view) ?? [];
  const kept = [...stage.world.disks.values()].filter(({ cid }) => !deletes.includes(cid));
  const data = new Set(kept.flatMap((disk) => disk.data ?? []));
  const wrongBefore = await inspect({ deletes }, stage);
  const start = await stage.moment();
  const tasksBefore = (await stage.tasks()).length;
  const place: Place = { lane, scenario, start, tasksBefore, say };
  const { report, rehearsal, tookMs } = await rehearse(place, "even");
  const states = report.tasks.map(({ state }) => state);
  const { points, steps } = report;
  const prepared = {
    scenario,
    start,
    tasksBefore,
    points,
    steps,
    tookMs,
    states,
    outcome: {},
    data,
    deletes,
    wrongBefore,
  };
  const ended = "task" in scenario.move ? (scenario.move.ends ?? "done") : undefined;
  const last = report.tasks.at(-1);
  const wrong = ended === undefined || last?.state === ended ? [] : [`task ${last?.id}: ${last?.result}`];
  const broken = [...wrong, ...(await inspect(prepared, rehearsal)), ...lostData(prepared, rehearsal)];
  if (broken.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${broken.join("; ")}`);
  const end = await rehearsal.view();
  const outcome = outcomeOf(scenario, scenario.goesBack === undefined ? end : view, data);
  const unmet = scenario.expects?.(end) ?? [];
  if (unmet.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${unmet.join("; ")}`);
  if (paces === "two") comparePoints(scenario, report, (await rehearse(place, "uneven")).report);
  return { ...prepared, outcome };
}

const REHEARSALS = 3;

interface Place extends Pick<PreparedScenario, "scenario" | "start" | "tasksBefore"> {
  readonly lane: Lane;
  readonly say: (line: string) => void;
}

interface Rehearsed {
  readonly report: ChildReport;
  readonly rehearsal: CrashLab;
  readonly tookMs: number;
}

/**
 * The move without a crash, tried again where something of this machine came in between. Every time it does is a fault of the
 * Director.
 */
async function rehearse(place: Place, pace: "even" | "uneven"): Promise<Rehearsed> {
  const { scenario, say } = place;
  for (let tries = 1; ; tries++) {
    const { disturbed, ...rehearsed } = await rehearseOnce(place, pace);
    if (disturbed === undefined) return rehearsed;
    if (tries === REHEARSALS) throw new Error(`${scenario.name}: ${disturbed}`);
    say(`${scenario.name}: rehearsed again, since ${disturbed}`);
  }
}

async function rehearseOnce(
  { lane, scenario, start, tasksBefore }: Place,
  pace: "even" | "uneven",
): Promise<Rehearsed & { readonly disturbed: string | undefined }> {
  const rehearsal = await CrashLab.at(lane, scenario, start);
  const job = await jobOf(scenario.move, rehearsal);
  const before = await lane.numberedTransactions();
  const since = systemClock.monotonic();
  const uneven = pace === "uneven" ? scenario.name : undefined;
  const report = await rehearsal.runChild({ jobs: [job], uneven });
  const tookMs = systemClock.monotonic() - since;
  const numbered = (await lane.numberedTransactions()) - before;
  if (report === "killed") throw new Error(`${scenario.name}: somebody killed the Director`);
  const disturbed =
    interruption(report, tasksBefore) ?? (pace === "even" ? unseen(report, numbered) : undefined);
  return { report, rehearsal, tookMs, disturbed };
}

/** A task that gave up its run, as when a connection to the database breaks, passes its points in two lives. */
function interruption({ tasks, interrupted, errors }: ChildReport, tasksBefore: number): string | undefined {
  const mine = tasks.slice(tasksBefore).map(({ id }) => id);
  const found = interrupted.filter(({ id }) => mine.includes(id));
  if (found.length === 0) return undefined;
  const runs = found.map(({ id, runs, warnings }) => `task ${id} took ${runs} runs (${warnings.join(" ")})`);
  return `nobody killed the Director, but ${[...runs, ...errors].join("; ")}`;
}

/**
 * The database numbers the transactions that change something: no more than those that were seen, or some of them have no
 * points. Nothing else uses the server meanwhile, but it may tidy up.
 */
const unseen = ({ transactions }: ChildReport, numbered: number): string | undefined =>
  numbered <= transactions
    ? undefined
    : `the database has seen ${numbered} transactions that change something, of which only ${transactions} have crash points`;

/** A point that is not passed at another pace may never be found, or be another one. */
function comparePoints({ name }: CrashScenario, even: ChildReport, uneven: ChildReport): void {
  const texts = (these: readonly PointId[]) => new Set(these.map(pointText));
  const [here, there] = [texts(even.points), texts(uneven.points)];
  const only = [...here].filter((one) => !there.has(one));
  const more = [...there].filter((one) => !here.has(one));
  if (only.length + more.length > 0)
    throw new Error(
      `${name}: which points it passes depends on how fast it is: ${[...only, ...more].join("; ")}`,
    );
}

/** A move that is not killed. */
export async function makeMove(move: Move, stage: CrashLab, name: string): Promise<void> {
  if ("world" in move) return await move.world(await stage.view());
  if ("configs" in move) return await stage.save(move.configs);
  const last = (await stage.runHere({ jobs: [await jobOf(move, stage)] })).at(-1);
  const wanted = "task" in move ? (move.ends ?? "done") : undefined;
  if (wanted !== undefined && last?.state !== wanted)
    throw new Error(`on the way to ${name}, task ${last?.id} ended as ${last?.state}: ${last?.result}`);
}

export async function jobOf(move: CrashScenario["move"], stage: CrashLab): Promise<Job> {
  if ("monitor" in move) return move;
  if ("ignore" in move) return { ignore: move.ignore(await stage.view()) };
  return { task: typeof move.task === "function" ? move.task(await stage.view()) : move.task };
}

/** Content is on a disk that is in use or in the orphan list: nothing is deleted but what was to be. */
export function lostData({ data }: Pick<PreparedScenario, "data">, stage: CrashLab): readonly string[] {
  const now = new Set([...stage.world.disks.values()].map((disk) => disk.data));
  return [...data].filter((text) => !now.has(text)).map((text) => `data is gone: ${text}`);
}

export async function inspect(
  { deletes }: Pick<PreparedScenario, "deletes">,
  stage: CrashLab,
): Promise<readonly string[]> {
  return brokenInvariants(stage.world, (await stage.view()).remembered, deletes);
}
