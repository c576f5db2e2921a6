import type { KnownInstances } from "@slipway/engine/flows/run-instance";
import { display, type GroupName } from "@slipway/engine/model/names";
import type { Plan, StateChange } from "@slipway/engine/plan/model";
import { planOrThrow } from "@slipway/engine/plan/plan";
import type { FlowContext } from "@slipway/engine/steps/context";
import { withDeadline } from "@slipway/kernel/deadline";
import type { DeploymentRecord } from "../../store/deployments.ts";
import { loadInstances } from "../../store/instances.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { askAgents } from "../ask-agents.ts";
import { carryOut, narrowed } from "../deploy/execute.ts";
import type { Gathered } from "../deploy/gather.ts";
import { knownReleases } from "../deploy/jobs-planner.ts";
import { type PlannedDeploy, planDeploy } from "../deploy/plan-deploy.ts";
import type { OperationContext } from "../operation.ts";

/** Longest time that cleaning up goes on after a cancel. */
const CLEARING_MS = 600_000;
const ANSWER_MS = 15_000;

/** The VMs of groups that are errands: a deploy makes none, a run of the errand does. */
export interface ErrandVms {
  readonly made: PlannedDeploy;
  /** Ends them: instance, disk and addresses stay for the next run. */
  remove(): Promise<void>;
}

/** Gives the groups of an errand VMs as services have them, while the errand runs. */
const running = (found: Gathered, names: ReadonlySet<string>, to: StateChange["to"]): Gathered => ({
  ...found,
  runningErrands: names,
  // Nothing is done to the other groups, whatever follows for them.
  options: { ...found.options, fix: true, state: { group: undefined, instance: undefined, to } },
});

export async function planErrandVms(
  found: Gathered,
  names: ReadonlySet<GroupName>,
  deployment: DeploymentRecord,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<ErrandVms> {
  const only = (_uuid: string, group: string) => names.has(group as GroupName);
  const preparing = task.stage("Preparing deployment");
  const made = await planDeploy(
    () => Promise.resolve(running(found, names, "started")),
    { deployment, dryRun: false, only, preparing, releasesOf: (manifest) => knownReleases(manifest, tools) },
    task,
    tools,
    context,
  );
  const detached = async (within: FlowContext): Promise<Plan> => {
    const all = await loadInstances(tools.db, deployment.name);
    const instances = all.filter(({ compilation }) => compilation !== true);
    const own = instances.filter(({ group }) => names.has(group));
    const input = running(found, names, "detached");
    return narrowed(
      planOrThrow({ ...input, instances, agents: await askAgents(own, within, { timeoutMs: ANSWER_MS }) }),
      only,
    );
  };
  const end = async (within: FlowContext) => {
    const plans = (await detached(within)).groups.flat().flatMap(({ batches }) => batches);
    const stage = task.stage("Deleting errand instances");
    for (const plan of plans.flatMap(({ instances }) => instances)) {
      if (plan.recorded === undefined) continue;
      const work = (progress: (status: string) => void) =>
        carryOut(plan, null, progress, within, made.known as KnownInstances);
      // A cancelled task begins no step any more, but what it has made goes.
      if (task.signal.aborted) await work(() => undefined);
      else await stage.step(display(plan.recorded), work);
    }
  };
  return {
    made,
    remove: async () => {
      if (!context.signal.aborted) return await end(context);
      await withDeadline("deleting the VMs of an errand", CLEARING_MS, tools.clock, undefined, (signal) =>
        end({ ...context, signal }),
      );
    },
  };
}
