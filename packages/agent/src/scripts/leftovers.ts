import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { identityOf, lifeOf, ownIdentity } from "@slipway/kernel/process-identity";
import type { Random } from "@slipway/kernel/random";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Log } from "../log.ts";
import { endGroup, KILL_AFTER_MS } from "./group.ts";
import { markedProcesses, signalProcess } from "./marked.ts";

/** Variable in the environment of a script and its children that identifies the run. */
const MARK = "SLIPWAY_RUN";
const LOOK_MS = 100;
const REAPED_MS = 2_000;

const identity = open({ pid: v.number(), started: v.string(), boot: v.string(), namespace: v.string() });
const record = open({ mark: v.optional(v.string()), leader: v.optional(identity) });
type RunRecord = v.InferOutput<typeof record>;

export interface LeftoverTools {
  /** Directory with a record of each running script. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A script that is about to run. */
export interface NotedRun {
  readonly env: Readonly<Record<string, string>>;
  /** Records the pid once the script runs. */
  begun(pid: number): Promise<void>;
  /** Takes it off the list. What it has left running on purpose is its own business then. */
  over(): Promise<void>;
}

/** Written down before it begins: whatever it starts is found again, at whatever moment the agent is killed. */
export async function noteRun(name: string, { directory, random }: LeftoverTools): Promise<NotedRun> {
  const path = join(directory, name);
  const mark = random.hex(16);
  const write = (content: RunRecord) => writeFileAtomic(path, JSON.stringify(content));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await write({ mark });
  return {
    env: { [MARK]: mark },
    begun: (pid) => write({ mark, leader: { ...identityOf(pid) } }),
    over: () => rm(path, { force: true }),
  };
}

/**
 * Scripts have separate process groups and outlive an agent that is killed. The next run of the same script
 * ends that one first: two errands or two drains of one job at once are nothing a release is written for.
 */
export async function endLeftover(name: string, tools: LeftoverTools): Promise<void> {
  const { directory, clock, log } = tools;
  const path = join(directory, name);
  const run = await readRun(path);
  if (run === undefined) return;
  const left = await processesOf(run);
  if (left.length > 0) {
    log.warn(
      `${name} still runs as process ${left.join(", ")}, from before this agent was started; it is ended`,
    );
    if (leads(run)) await endGroup(run.leader?.pid ?? 0, clock);
    await endMarked(run, clock);
  }
  await rm(path, { force: true });
}

/** Ends all leftovers at the start of the agent, when no task waits for them any more. */
export async function tellLeftovers({ directory, log }: LeftoverTools): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const left = await processesOf((await readRun(path)) ?? {});
    if (left.length === 0) await rm(path, { force: true });
    else
      log.warn(
        `${name} still runs as process ${left.join(", ")}, though its task is lost; the next run of it ends it first`,
      );
  }
}

const leads = ({ leader }: RunRecord): boolean =>
  leader !== undefined && lifeOf(leader, ownIdentity()) === "alive";

/** The script itself and what it has started, also when it has ended itself. */
async function processesOf(run: RunRecord): Promise<readonly number[]> {
  const marked = run.mark === undefined ? [] : await markedProcesses(`${MARK}=${run.mark}`);
  const leader = leads(run) && run.leader !== undefined ? [run.leader.pid] : [];
  return [...new Set([...leader, ...marked])];
}

/** Ends processes that left the script's group, or whose group has lost its leader. */
async function endMarked(run: RunRecord, clock: Clock): Promise<void> {
  const killAt = clock.monotonic() + KILL_AFTER_MS;
  for (const pid of await processesOf(run)) signalProcess(pid, "SIGTERM");
  for (;;) {
    const left = await processesOf(run);
    if (left.length === 0 || clock.monotonic() > killAt + REAPED_MS) return;
    if (clock.monotonic() > killAt) for (const pid of left) signalProcess(pid, "SIGKILL");
    await clock.sleep(LOOK_MS);
  }
}

async function readRun(path: string): Promise<RunRecord | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const checked = check(record, parseStrictJson(text, "a running script"));
    return checked.ok ? checked.value : {};
  } catch {
    return {};
  }
}
