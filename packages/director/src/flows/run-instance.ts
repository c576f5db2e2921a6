import { messageTrail } from "@slipway/kernel/errors";
import { AgentRefused, AgentSilent, WrongAgent } from "../agents/agent.ts";
import { activeDisk } from "../model/records.ts";
import type { StepName } from "../plan/model.ts";
import { causeOf } from "./errors.ts";
import { type Journey, runSteps } from "./run-steps.ts";
import { diskFits, newVm } from "./select.ts";
import type { FlowContext } from "./step.ts";

/** By copy: for a CPI that could not do it itself. */
const COPY: readonly StepName[] = [
  "create_disk",
  "attach_new_disk",
  "mount_new_disk",
  "migrate_disk",
  "switch_disk",
  "unmount_old_disk",
  "detach_old_disk",
  "orphan_disk",
];

/** Brings one instance to its plan, by the steps the plan names. */
export async function runInstance(journey: Journey, context: FlowContext): Promise<void> {
  const names = journey.plan.steps.map(({ name }) => name);
  if (names.length === 0) return;
  await context.journal.write((writes) => writes.updateInstance(journey.uuid, { updateCompleted: false }));
  try {
    await runSteps(["delete_unused_vm"], journey, context);
    const [before, after] = splitAfterMount(names);
    await runSteps(before, journey, context);
    if (await needsCopy(journey, names, context)) await runSteps(COPY, journey, context);
    await runSteps(after, journey, context);
  } catch (error) {
    await removeUnreachable(error, journey, context);
    throw error;
  }
}

/** A disk the CPI was to resize is looked at again once it is back. */
function splitAfterMount(
  names: readonly StepName[],
): readonly [before: readonly StepName[], after: readonly StepName[]] {
  const byCpi = names.includes("resize_disk") || names.includes("update_disk");
  const at = byCpi ? names.indexOf("mount_disk") + 1 : names.length;
  return [names.slice(0, at), names.slice(at)];
}

async function needsCopy(
  journey: Journey,
  names: readonly StepName[],
  context: FlowContext,
): Promise<boolean> {
  if (!names.includes("resize_disk") && !names.includes("update_disk")) return false;
  const instance = await context.journal.instance(journey.uuid);
  const disk = instance === undefined ? undefined : activeDisk(instance);
  return disk !== undefined && !diskFits(disk, journey.plan.desired?.persistentDisk);
}

/** A new VM whose agent cannot be used is deleted, unless the operator wants to look at it. */
async function removeUnreachable(error: unknown, journey: Journey, context: FlowContext): Promise<void> {
  const cause = causeOf(error);
  const ofAgent =
    cause instanceof AgentSilent || cause instanceof AgentRefused || cause instanceof WrongAgent;
  if (!ofAgent || context.settings.keepUnreachableVms || context.signal.aborted) return;
  const instance = await context.journal.instance(journey.uuid);
  const vm = instance === undefined ? undefined : newVm(instance);
  if (vm === undefined || vm.ready) return;
  context.debug(`VM ${vm.cid} is deleted: ${messageTrail(error)}`);
  const gone = { ...journey, plan: { ...journey.plan, desired: undefined } };
  try {
    await runSteps(["delete_unused_vm"], gone, context);
  } catch (problem) {
    // The operator is told why the VM is of no use; the next deploy deletes it.
    context.debug(`VM ${vm.cid} could not be deleted: ${messageTrail(problem)}`);
  }
}
