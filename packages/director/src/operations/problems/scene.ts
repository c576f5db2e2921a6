import type { InstanceRun } from "@slipway/engine/flows/run-steps";
import type { InstanceGoal } from "@slipway/engine/model/goal";
import type { ProblemRecord, ResolutionName } from "@slipway/engine/model/problems";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { Db } from "../../store/schema.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { diskByHand } from "../by-hand.ts";

/** Input of a resolution: the problem, its instance as it is recorded now, and the world. */
export interface Scene {
  readonly problem: ProblemRecord;
  readonly instance: InstanceRecord;
  /** Context for calls about this instance. */
  readonly context: FlowContext;
  readonly task: TaskContext;
  /** Database, for reading only. */
  readonly db: Db;
  readonly warn: (message: string) => void;
}

/**
 * Does what the operator chose, or nothing when the problem is gone meanwhile. Taken again from the start after a crash,
 * so it looks before it acts.
 */
export type Resolution = (scene: Scene) => Promise<void>;

/** Resolutions that are carried out one by one; new VMs are planned together. */
export type SingleResolution = Exclude<ResolutionName, "ignore" | "recreate_vm" | "recreate_vm_without_wait">;

/** Work on one instance outside of a deploy; its jobs are not drained. */
export function runByHand(
  { instance }: Pick<Scene, "instance">,
  reason: string,
  more: Partial<InstanceGoal> = {},
): InstanceRun {
  const byHand = diskByHand(instance, reason);
  return { ...byHand, goal: { ...byHand.goal, skipDrain: true, ...more } };
}
