import type { InstancePlan } from "@slipway/engine/plan/model";
import type { StepName } from "@slipway/engine/steps/steps";
import type { Stage, StageStep } from "../../tasks/task.ts";

/** Phases that begin with a step, in upstream's words for one instance. Steps in between belong to the phase that has begun. */
const PHASES: Partial<Readonly<Record<StepName, string>>> = {
  stop: "Stopping instance",
  delete_vm: "Deleting VM",
  orphan_vm: "Deleting VM",
  create_vm: "Creating VM",
  apply: "Starting instance",
  start: "Starting instance",
};
/** Steps that take off the disks of a VM before it is deleted. */
const BEFORE_DELETION: readonly StepName[] = ["unmount_disk", "detach_disk", "detach_named_disk"];

/** Works on one instance, shown as `Updating instance web/... (0): Stopping instance`. */
export async function inPhases(
  stage: Stage,
  { steps, desired }: InstancePlan,
  work: (progress: (step: StepName) => void) => Promise<void>,
): Promise<void> {
  const deletes = steps.some(({ name }) => PHASES[name] === PHASES.delete_vm);
  const stays = desired?.state === "stopped";
  let now: (StageStep & { readonly name: string }) | undefined;
  const enter = (step: StepName) => {
    const ofDeletion = deletes && BEFORE_DELETION.includes(step) ? PHASES.delete_vm : undefined;
    const name = stays && step === "apply" ? undefined : (PHASES[step] ?? ofDeletion);
    if (name === undefined || now?.name === name) return;
    now?.finished();
    now = { name, ...stage.begin(name) };
  };
  try {
    await work(enter);
  } catch (error) {
    now?.failed(error);
    throw error;
  }
  now?.finished();
}
