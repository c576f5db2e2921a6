import { runInstance } from "@slipway/engine/flows/run-instance";
import type { FlowContext } from "@slipway/engine/flows/step";
import { display, type InstanceUuid, slug } from "@slipway/engine/model/names";
import type { Batch, GroupPlan, InstancePlan, Plan, StepName } from "@slipway/engine/plan/model";
import { messageTrail } from "@slipway/kernel/errors";
import type { TaskContext } from "../../tasks/task.ts";
import { inFlight } from "../in-flight.ts";

/** Early VMs are made all groups at once; the cloud is the limit, and it is asked gently. */
const MISSING_AT_ONCE = 32;
const NO_WATCH: readonly [number, number] = [0, 0];

/** What people read while a step is taken: upstream's words where it has them. Steps of a moment are not told. */
const STATUS: Readonly<Partial<Record<StepName, string>>> = {
  stop: "stopping jobs",
  unmount_disk: "unmounting disk",
  detach_disk: "detaching disk",
  delete_vm: "deleting vm",
  create_vm: "creating vm",
  wait_for_agent: "waiting for agent",
  attach_disk: "attaching disk",
  mount_disk: "mounting disk",
  create_disk: "creating disk",
  attach_new_disk: "attaching new disk",
  mount_new_disk: "mounting new disk",
  detach_old_disk: "detaching old disk",
  orphan_disk: "orphaning old disk",
  update_disk: "updating disk",
  orphan_vm: "leaving old vm to be deleted",
  migrate_disk: "copying disk",
  resize_disk: "resizing disk",
  apply: "configuring jobs",
  start: "starting jobs",
};

/** Carries out a plan: obsolete groups, missing VMs, then group by group. */
export async function executePlan(plan: Plan, task: TaskContext, context: FlowContext): Promise<void> {
  const run = (batch: Pick<Batch, "watchMs" | "canary">, stageName: string, tags: readonly string[]) => {
    const stage = task.stage(stageName, tags);
    return (instance: InstancePlan) =>
      stage.step(nameOf(instance) + (batch.canary ? " (canary)" : ""), async (progress) => {
        await journeyOf(instance, batch.watchMs, saying(progress), context);
      });
  };
  const quiet = { watchMs: NO_WATCH, canary: false };

  if (plan.obsolete.length > 0)
    await inFlight(plan.obsolete, MISSING_AT_ONCE, run(quiet, "Deleting unneeded instances", []));
  if (plan.missingVms.length > 0)
    await inFlight(plan.missingVms, MISSING_AT_ONCE, run(quiet, "Creating missing vms", []));
  for (const together of plan.groups) {
    await inFlight(together, together.length, (group) => updateGroup(group));
  }

  async function updateGroup(group: GroupPlan): Promise<void> {
    const deletion = run(quiet, "Deleting unneeded instances", [group.group]);
    await inFlight(group.surplus, group.maxInFlight, deletion);
    for (const batch of group.batches) {
      await inFlight(batch.instances, batch.maxInFlight, run(batch, "Updating instance", [group.group]));
    }
  }
}

/** Tells of each step what people read while it is taken. */
export const saying =
  (progress: (status: string) => void) =>
  (step: StepName): void => {
    const status = STATUS[step];
    if (status !== undefined) progress(status);
  };

const identityOf = (plan: InstancePlan) => plan.desired ?? plan.recorded;

function nameOf(plan: InstancePlan): string {
  const instance = identityOf(plan);
  return instance === undefined ? "unknown" : display(instance);
}

export async function journeyOf(
  plan: InstancePlan,
  watchMs: readonly [number, number] | null,
  progress: (step: StepName) => void,
  context: FlowContext,
): Promise<void> {
  const instance = identityOf(plan);
  if (instance === undefined) return;
  const uuid: InstanceUuid = instance.uuid;
  if (plan.steps.length === 0) return;
  const name = slug(instance);
  const event = { objectType: "instance", objectName: name, instance: name, deployment: context.deployment };
  try {
    await runInstance({ uuid, plan, watchMs, progress }, context);
  } catch (error) {
    await context.audit({ ...event, action: plan.action, error: messageTrail(error) });
    throw error;
  }
  await context.audit({ ...event, action: plan.action });
}

/** The part of a plan that concerns some instances. */
export function narrowed(plan: Plan, only: (uuid: string) => boolean): Plan {
  const its = (one: InstancePlan) => only(identityOf(one)?.uuid ?? "");
  return {
    ...plan,
    obsolete: plan.obsolete.filter(its),
    missingVms: plan.missingVms.filter(its),
    desired: plan.desired.filter((one) => only(one.uuid)),
    groups: plan.groups.map((together) =>
      together.map((group) => ({
        ...group,
        surplus: group.surplus.filter(its),
        batches: group.batches.map((batch) => ({ ...batch, instances: batch.instances.filter(its) })),
      })),
    ),
  };
}
