import { AgentSilent } from "@slipway/engine/agents/agent";
import { StepFailed } from "@slipway/engine/flows/errors";
import { type KnownInstances, runInstance } from "@slipway/engine/flows/run-instance";
import { display, type InstanceUuid } from "@slipway/engine/model/names";
import { activeVm } from "@slipway/engine/model/records";
import type { Batch, GroupPlan, InstancePlan, Plan } from "@slipway/engine/plan/model";
import { aboutInstance, agentOf, type FlowContext } from "@slipway/engine/steps/context";
import { STEPS, type StepName } from "@slipway/engine/steps/steps";
import type { Stage, StageStep, TaskContext } from "../../tasks/task.ts";
import { inFlight } from "../in-flight.ts";

/** Early VMs are made all groups at once; the cloud is the limit, and it is asked gently. */
const MISSING_AT_ONCE = 32;
const UNWATCHED: Pick<Batch, "watchMs" | "canary"> = { watchMs: [0, 0], canary: false };

/** Carries out a plan, and tells all agents where instances are found then. `single`: it is about one instance only. */
export async function executePlan(
  plan: Plan,
  known: KnownInstances,
  task: TaskContext,
  context: FlowContext,
  single = false,
): Promise<void> {
  try {
    await executeAll(plan, known, task, context, single);
  } catch (error) {
    // Names of what was done until then are published all the same; if that fails, it is done later.
    if (!context.signal.aborted) await context.names?.publish().catch(() => undefined);
    throw error;
  }
  await context.names?.publish();
  if (changes(plan))
    await runPostDeploy(
      plan.desired.map(({ uuid }) => uuid),
      known,
      context,
    );
}

/** Obsolete groups, missing VMs, then group by group. */
async function executeAll(
  plan: Plan,
  known: KnownInstances,
  task: TaskContext,
  context: FlowContext,
  single: boolean,
): Promise<void> {
  const run = (stage: Stage, { watchMs, canary }: Pick<Batch, "watchMs" | "canary">, quiet = false) => {
    if (single)
      return (instance: InstancePlan) =>
        inPhases(task.stage(`Updating instance ${nameOf(instance)}`), instance, (progress) =>
          runInstance({ ...identified(instance), watchMs, progress }, context, known),
        );
    return (instance: InstancePlan) =>
      stage.step(nameOf(instance) + (canary ? " (canary)" : ""), async (progress) => {
        await carryOut(instance, watchMs, quiet ? () => undefined : progress, context, known);
      });
  };
  // As upstream: deletions and recreations show only their beginning and end.
  const quietly = (name: string, tags: readonly string[], all: readonly InstancePlan[], atOnce: number) =>
    all.length === 0
      ? Promise.resolve()
      : inFlight(all, atOnce, run(task.stage(name, tags, all.length), UNWATCHED, true));

  await quietly("Deleting unneeded instances", [], plan.obsolete, MISSING_AT_ONCE);
  await quietly("Creating missing vms", [], plan.missingVms, MISSING_AT_ONCE);
  if (plan.obsolete.length + plan.missingVms.length > 0) await context.names?.publish();
  for (const together of plan.groups) {
    await inFlight(together, together.length, (group) => updateGroup(group));
  }

  async function updateGroup(group: GroupPlan): Promise<void> {
    await quietly("Deleting unneeded instances", [group.group], group.surplus, group.maxInFlight);
    const count = group.batches.reduce((sum, { instances }) => sum + instances.length, 0);
    if (count === 0) task.debug(`No instances to update for '${group.group}'`);
    const stage = task.stage("Updating instance", [group.group], count);
    for (const batch of group.batches) {
      await inFlight(batch.instances, batch.maxInFlight, run(stage, batch));
    }
  }
}

const changes = ({ groups }: Plan): boolean =>
  groups.flat().some(({ batches }) => batches.some(({ instances }) => instances.length > 0));

/**
 * Runs the `post-deploy` scripts of all started instances, in no order. Ignored instances are left alone.
 * `tolerant` skips agents that do not answer: after a resurrection another VM may still be away.
 */
export async function runPostDeploy(
  uuids: readonly InstanceUuid[],
  known: KnownInstances,
  context: FlowContext,
  tolerant = false,
): Promise<void> {
  await inFlight(uuids, MISSING_AT_ONCE, async (uuid) => {
    const instance = await known.get(uuid);
    const vm = instance && activeVm(instance);
    if (vm === undefined || instance === undefined) return;
    if (instance.ignore || instance.state !== "started" || (instance.spec?.jobs ?? null) === null) return;
    const agent = agentOf(aboutInstance(context, instance), vm);
    try {
      await agent.runScript("post-deploy", {}, { signal: context.signal });
    } catch (error) {
      context.signal.throwIfAborted();
      if (tolerant && error instanceof AgentSilent) return;
      throw new StepFailed(display(instance), "post-deploy", error);
    }
  });
}

/** Tells of each step what people read while it is taken. */
const saying =
  (progress: (status: string) => void) =>
  (step: StepName): void => {
    const { status } = STEPS[step];
    if (status !== undefined) progress(status);
  };

const identityOf = (plan: InstancePlan) => plan.desired ?? plan.recorded;

function identified(plan: InstancePlan) {
  const instance = identityOf(plan);
  if (instance === undefined) throw new Error("bug: a plan for no instance");
  return { uuid: instance.uuid, plan };
}

function nameOf(plan: InstancePlan): string {
  const instance = identityOf(plan);
  return instance === undefined ? "unknown" : display(instance);
}

/** Brings one instance to its plan. */
export async function carryOut(
  plan: InstancePlan,
  watchMs: readonly [number, number] | null,
  progress: (status: string) => void,
  context: FlowContext,
  known: KnownInstances,
): Promise<void> {
  await runInstance({ ...identified(plan), watchMs, progress: saying(progress) }, context, known);
}

/** The part of a plan that concerns some instances. */
export function narrowed(plan: Plan, only: (uuid: string, group: string) => boolean): Plan {
  const its = (one: InstancePlan) => only(identityOf(one)?.uuid ?? "", identityOf(one)?.group ?? "");
  return {
    ...plan,
    obsolete: plan.obsolete.filter(its),
    missingVms: plan.missingVms.filter(its),
    desired: plan.desired.filter((one) => only(one.uuid, one.group)),
    groups: plan.groups.map((together) =>
      together.map((group) => ({
        ...group,
        surplus: group.surplus.filter(its),
        batches: group.batches.map((batch) => ({ ...batch, instances: batch.instances.filter(its) })),
      })),
    ),
  };
}

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
async function inPhases(
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
