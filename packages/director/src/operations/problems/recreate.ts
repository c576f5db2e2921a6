import type { KnownInstances } from "@slipway/engine/flows/run-instance";
import type { Manifest } from "@slipway/engine/manifest/model";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { FoundProblem } from "@slipway/engine/model/problems";
import type { GroupPlan, InstancePlan, Plan } from "@slipway/engine/plan/model";
import type { FlowContext, JobsToRun } from "@slipway/engine/steps/context";
import { findDeployment } from "../../store/deployments.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { carryOut, runPostDeploy } from "../deploy/execute.ts";
import { deployedRequest, gather } from "../deploy/gather.ts";
import { knownReleases } from "../deploy/jobs-planner.ts";
import { planDeploy } from "../deploy/plan-deploy.ts";
import { NothingDeployed, NotWanted } from "../errors.ts";
import { inFlight } from "../in-flight.ts";
import type { OperationContext } from "../operation.ts";

/** An instance that is to get a new VM. */
export interface Recreation {
  readonly problem: FoundProblem;
  /** True to wait until its jobs run. */
  readonly wait: boolean;
  /** True if this very task has asked its agent in vain. It is not asked again: others wait for the lock. */
  readonly silent?: boolean;
}

/** Reports and carries out one of them; never throws. */
export type Carry<R extends Recreation> = (
  recreation: R,
  work: (progress: (status: string) => void) => Promise<void>,
) => Promise<void>;

/**
 * New VMs for instances whose VM is gone or silent: as a deploy of what is deployed would make them, with `--fix`, and
 * for these instances alone. After a crash it goes on where the records say it is. VMs whose agent was never ready are
 * replaced if they were made before `askedAt`, and otherwise waited for again.
 */
export async function recreate<R extends Recreation>(
  chosen: readonly R[],
  askedAt: number,
  overrides: Readonly<Record<string, string>>,
  carry: Carry<R>,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<void> {
  const { plan, instances, sizes, known, jobs } = await planFor(chosen, askedAt, task, tools, context);
  let recreated = 0;
  for (const name of new Set(chosen.map(({ problem }) => problem.group))) {
    const its = chosen.filter(({ problem }) => problem.group === name);
    const group = plan.groups.flat().find((one) => one.group === name);
    const atOnce = inFlightOf(overrides, name, sizes.get(name) ?? 1) ?? group?.maxInFlight ?? 1;
    await inFlight(its, atOnce, (one) =>
      carry(one, async (progress) => {
        if (!plan.desired.some(({ uuid }) => uuid === one.problem.instance))
          throw NotWanted({ instance: `${name}/${one.problem.instance}` });
        for (const { step, watchMs } of plansOf(one, group, plan))
          await carryOut(step, one.wait ? watchMs : null, progress, { ...context, jobs }, known);
        recreated += 1;
      }),
    );
  }
  // As upstream: in all instances, since the scripts of a cluster may concern its new member.
  if (recreated > 0) await runPostDeploy(instances, known, context, true);
}

async function planFor(
  chosen: readonly Recreation[],
  askedAt: number,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<{
  readonly plan: Plan;
  /** All instances of the deployment. */
  readonly instances: readonly InstanceUuid[];
  readonly sizes: ReadonlyMap<string, number>;
  readonly known: KnownInstances;
  readonly jobs: JobsToRun | undefined;
}> {
  const deployment = await findDeployment(tools.db, context.deployment);
  if (deployment === undefined) throw NothingDeployed({ deployment: context.deployment });
  const silent = new Set<string>(chosen.flatMap((one) => (one.silent ? [one.problem.instance] : [])));
  const request = { ...(await deployedRequest(deployment.name, tools)), askedAt, silent };
  const uuids = new Set<string>(chosen.map(({ problem }) => problem.instance));
  const deploying = {
    deployment,
    dryRun: false,
    only: (uuid: string) => uuids.has(uuid),
    preparing: task.stage("Preparing deployment"),
    releasesOf: (manifest: Manifest) => knownReleases(manifest, tools),
  };
  const gathered = () => gather(request, tools, context, task);
  const { plan, whole, known, jobs } = await planDeploy(gathered, deploying, task, tools, context);
  if (known === undefined) throw new Error("bug: what is recreated was not reserved");
  const sizes = new Map<string, number>();
  for (const { group } of whole.desired) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return { plan, instances: whole.desired.map(({ uuid }) => uuid), sizes, known, jobs };
}

/** Returns what is to be done for an instance, in order: its VM if it has none, then everything else. */
function plansOf(
  { problem }: Recreation,
  group: GroupPlan | undefined,
  { missingVms }: Plan,
): readonly { readonly step: InstancePlan; readonly watchMs: readonly [number, number] }[] {
  const its = ({ desired, recorded }: InstancePlan) => (desired ?? recorded)?.uuid === problem.instance;
  return [
    ...missingVms.filter(its).map((step) => ({ step, watchMs: [0, 0] as const })),
    ...(group?.batches ?? []).flatMap(({ watchMs, instances }) =>
      instances.filter(its).map((step) => ({ step, watchMs })),
    ),
  ];
}

function inFlightOf(
  overrides: Readonly<Record<string, string>>,
  group: string,
  size: number,
): number | undefined {
  const given = Object.hasOwn(overrides, group) ? overrides[group] : undefined;
  if (given === undefined) return undefined;
  const many = given.endsWith("%") ? (size * Number(given.slice(0, -1))) / 100 : Number(given);
  return Math.max(1, Math.floor(many));
}
