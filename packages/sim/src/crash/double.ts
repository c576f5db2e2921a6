import { toError } from "@slipway/kernel/errors";
import { differences, endState } from "../world/end-state.ts";
import type { EndedTask, Job, Mutant } from "./child-order.ts";
import { CrashLab, type CrashSnapshot, forget } from "./crash-lab.ts";
import type { DirectorDeath } from "./drive.ts";
import type { Lane } from "./lane.ts";
import { inspect, jobOf, lostData, type PreparedScenario } from "./prepare.ts";
import type { SecondFault } from "./second-fault.ts";

/** Result of two faults, one in each of two lives. */
export interface DoubleFault {
  /** The second fault; undefined: the second life had fewer calls. */
  readonly hit: string | undefined;
  readonly broken: readonly string[];
}

/** State after the first life, with the operator's order. */
export type FirstFault = Pick<DirectorDeath, "point" | "left" | "job">;

/** A first life in which the answer to one call is lost. Undefined: it has fewer calls. */
export async function loseAnswer(
  lane: Lane,
  { scenario, start }: PreparedScenario,
  nth: number,
): Promise<FirstFault | undefined> {
  const stage = await CrashLab.at(lane, scenario, start);
  const job = await jobOf(scenario.move, stage);
  const { hit } = await stage.runStruck({ jobs: [job] }, { nth, cpi: "lost", agent: "lost" });
  return hit === undefined ? undefined : { point: hit, left: await stage.moment(), job };
}

/** The calls of the life after the first fault, when it meets none. */
export async function callsAfter(
  lane: Lane,
  prepared: PreparedScenario,
  first: FirstFault,
): Promise<readonly string[]> {
  const stage = await CrashLab.at(lane, prepared.scenario, first.left);
  return (await stage.runStruck(await orderAfter(prepared, stage, first.job))).calls;
}

/**
 * The life after the first fault meets a second one. Then all is well with the world: what was begun goes on, and the operator
 * asks again for what has failed. What must hold does so after each life.
 */
export async function meetSecond(
  lane: Lane,
  prepared: PreparedScenario,
  first: FirstFault,
  second: SecondFault,
  mutant?: Mutant,
): Promise<DoubleFault> {
  let hit: string | undefined;
  try {
    const { scenario } = prepared;
    let stage = await CrashLab.at(lane, scenario, first.left);
    await stage.save(scenario.meanwhile ?? []);
    const order = await orderAfter(prepared, stage, first.job);
    let left: CrashSnapshot | undefined;
    if (mutant === undefined) ({ hit, left } = await stage.runStruck(order, second));
    else {
      hit = `${second.cpi} at ${second.nth}`;
      await stage.runChild({ ...order, mutant, second });
    }
    if (hit === undefined) return { hit, broken: [] };
    if (left === undefined) {
      // A deleted resource may stay recorded, and what was wrong before may stay, until the command that failed is run again.
      const broken = (await inspect(prepared, stage)).filter(
        (what) => !what.endsWith("does not exist") && !prepared.wrongBefore.includes(what),
      );
      if (broken.length > 0) return { hit, broken: broken.map((what) => `after the second fault: ${what}`) };
    } else {
      stage = await CrashLab.at(lane, scenario, left);
      await forget(left);
    }
    return { hit, broken: await recover(prepared, stage, first.job) };
  } catch (error) {
    return { hit, broken: [toError(error).message] };
  }
}

const UNFINISHED = ["queued", "processing", "cancelling"];

/** Returns the work of the next Director: unfinished tasks, or else the operator's order once more. */
async function orderAfter(
  { scenario, tasksBefore }: PreparedScenario,
  stage: CrashLab,
  job: Job,
): Promise<{ readonly jobs: readonly Job[]; readonly cancels: boolean }> {
  const cancels = scenario.goesBack !== undefined;
  if (scenario.goesBack !== undefined) return { jobs: [{ task: scenario.goesBack }], cancels };
  const tasks = (await stage.tasks()).slice(tasksBefore);
  if ("task" in job && tasks.some(({ state }) => UNFINISHED.includes(state))) return { jobs: [], cancels };
  return { jobs: [await nextJob(scenario, stage, job, tasks)], cancels };
}

/** Returns the operator's next order: a failed one again, as things are now or else as before; after success, a deploy. */
async function nextJob(
  { again, move }: PreparedScenario["scenario"],
  stage: CrashLab,
  job: Job,
  tasks: readonly EndedTask[],
): Promise<Job> {
  if (again !== undefined && tasks.at(-1)?.state === "done") return { task: again };
  return tasks.length === 0 ? job : await jobOf(move, stage).catch(() => job);
}

/** The third life, in a healthy world, and the operator's next command if the one before has failed. */
async function recover(prepared: PreparedScenario, stage: CrashLab, job: Job): Promise<readonly string[]> {
  const { scenario, tasksBefore, data, states } = prepared;
  const ended = async () => (await stage.tasks()).slice(tasksBefore).at(-1);
  const run = async () => {
    const order = await orderAfter(prepared, stage, job);
    await stage.runStruck(order);
    return await ended();
  };
  let last = await ended();
  if (last === undefined || UNFINISHED.includes(last.state)) last = await run();
  if (last?.state !== "done") last = await run();
  if (scenario.again !== undefined) last = await run();
  const broken = [...(await inspect(prepared, stage)), ...lostData(prepared, stage)];
  const repeated = scenario.again !== undefined || scenario.goesBack !== undefined;
  if (!repeated) return last?.state === states.at(-1) ? [...broken, ...(await openIntents(stage))] : broken;
  if (last?.state !== "done") return [`the next command ended as ${last?.state}: ${last?.result}`, ...broken];
  if (scenario.goesBack !== undefined || broken.length > 0) return broken;
  const { remembered, world } = await stage.view();
  const found = endState(world, remembered, data) as { readonly instances?: object };
  const wanted = prepared.outcome as { readonly instances?: object };
  return [...differences(found.instances, wanted.instances, "instances"), ...(await openIntents(stage))];
}

const openIntents = async (stage: CrashLab): Promise<readonly string[]> =>
  (await stage.view()).remembered.openIntents.map((step) => `${step} is still open`);
