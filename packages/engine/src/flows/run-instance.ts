import { messageTrail } from "@slipway/kernel/errors";
import { AgentRefused, AgentSilent, WrongAgent } from "../agents/agent.ts";
import { activeDisk } from "../model/records.ts";
import type { StepName } from "../plan/model.ts";
import { causeOf } from "./errors.ts";
import { Records } from "./records.ts";
import { type Journey, runSteps } from "./run-steps.ts";
import { diskFits, newVm } from "./select.ts";
import type { FlowContext } from "./step.ts";

/** By copy: for a CPI that could not do it itself. */
const COPY: readonly StepName[] = [
  "create_disk",
  "attach_new_disk",
  "mount_new_disk",
  "migrate_disk",
  "unmount_old_disk",
  "detach_old_disk",
  "orphan_disk",
];

/** Brings one instance to its plan, by the steps the plan names. */
export async function runInstance(journey: Journey, context: FlowContext): Promise<void> {
  const names = inOrder(journey);
  if (names.length === 0) return;
  const records = new Records(journey.uuid, context.journal);
  if ((await records.instance())?.updateCompleted === true) {
    await context.journal.write((writes) => writes.updateInstance(journey.uuid, { updateCompleted: false }));
    records.forget();
  }
  try {
    await runSteps(["delete_unused_vm"], journey, context, records);
    const [before, after] = splitAfterMount(names);
    await runSteps(before, journey, context, records);
    if (await needsCopy(journey, names, records)) await runSteps(COPY, journey, context, records);
    await runSteps(after, journey, context, records);
  } catch (error) {
    await removeUnreachable(error, journey, context);
    throw error;
  }
}

/** What comes before each of these, whatever the records say: no disk is detached while an agent uses it. */
const UNMOUNT: Readonly<Partial<Record<StepName, StepName>>> = {
  detach_disk: "unmount_disk",
  detach_old_disk: "unmount_old_disk",
};

/** The steps of the plan, as they can be taken. */
function inOrder({ plan }: Journey): readonly StepName[] {
  const planned = plan.steps.map(({ name }) => name);
  return planned.flatMap((name) => {
    const first = UNMOUNT[name];
    return first === undefined || planned.includes(first) ? [name] : [first, name];
  });
}

/** A disk the CPI was to resize is looked at again once it is back. */
function splitAfterMount(
  names: readonly StepName[],
): readonly [before: readonly StepName[], after: readonly StepName[]] {
  const byCpi = names.includes("resize_disk") || names.includes("update_disk");
  const at = byCpi ? names.indexOf("mount_disk") + 1 : names.length;
  return [names.slice(0, at), names.slice(at)];
}

async function needsCopy(journey: Journey, names: readonly StepName[], records: Records): Promise<boolean> {
  if (!names.includes("resize_disk") && !names.includes("update_disk")) return false;
  const instance = await records.instance();
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
