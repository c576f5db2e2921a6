import type { InstanceUuid } from "@slipway/engine/model/names";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { FlowContext } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import type { ErrandLine } from "@slipway/protocol/director/errand";
import { runErrandParams } from "@slipway/protocol/director/task-params";
import type * as v from "valibot";
import { type DeploymentRecord, findDeployment } from "../store/deployments.ts";
import { isCancelled, type TaskContext } from "../tasks/task.ts";
import { executePlan } from "./deploy/execute.ts";
import { deployedRequest, gather } from "./deploy/gather.ts";
import { type Ran, ranAlready, stateOf } from "./errands/changed.ts";
import { type Chosen, chooseTargets } from "./errands/choose.ts";
import { type ErrandOrder, runOn } from "./errands/run-on.ts";
import { type ErrandVms, planErrandVms } from "./errands/vms.ts";
import { NothingDeployed } from "./errors.ts";
import { inFlight } from "./in-flight.ts";
import {
  askedAt,
  DEPLOYMENT_LOCK_MS,
  deploymentLock,
  flowContext,
  type OperationContext,
  operation,
} from "./operation.ts";

const AT_ONCE = 32;

type Params = v.InferOutput<typeof runErrandParams>;

/** `bosh run-errand`: where its job is, or in VMs that are made for it. Any exit code is a result. */
export const runErrand = operation(runErrandParams, (params, task, tools) =>
  task.withLock(deploymentLock(params.deployment), DEPLOYMENT_LOCK_MS, async () => {
    const deployment = await findDeployment(tools.db, params.deployment);
    if (deployment === undefined || deployment.manifestText === null)
      throw NothingDeployed({ deployment: params.deployment });
    const context = flowContext(tools, task, deployment.name);
    const preparing = task.stage("Preparing deployment", [], 1);
    const chosen = await preparing.step("Preparing deployment", async () => {
      const request = await requestOf(params, task, tools);
      const found = await gather(request, tools, context, task);
      return { ...(await chooseTargets(params, found, task, tools)), run: `${task.id}-${request.askedAt}` };
    });
    const lines = await carryOutErrand(params, chosen, deployment, task, tools, context);
    for (const line of lines) task.result(line);
    task.signal.throwIfAborted();
    return summary(lines);
  }),
);

/** VMs of the errand that were made since it was asked for are as new as it wants them. */
async function requestOf({ deployment }: Params, task: TaskContext, tools: OperationContext) {
  return { ...(await deployedRequest(deployment, tools)), askedAt: await askedAt(task, tools) };
}

async function carryOutErrand(
  params: Params,
  { found, job, errandGroups, services, run }: Chosen & Pick<ErrandOrder, "run">,
  deployment: DeploymentRecord,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<readonly ErrandLine[]> {
  const { errand: name } = params;
  const vms =
    errandGroups.size === 0
      ? undefined
      : await planErrandVms(found, errandGroups, deployment, task, tools, context);
  const targets = [...services.map(runs), ...(vms === undefined ? [] : firstOfEach(vms))];
  const order: ErrandOrder = {
    ...{ deployment: deployment.name, name, job, run },
    state: stateOf(targets),
  };
  if (params.when_changed && (await ranAlready(tools.db, order, targets, order.state))) {
    task.warn(`errand '${name}' is not run: it succeeded, and nothing of it has changed since`);
    return [];
  }
  const lines: ErrandLine[] = [];
  const work = async () => {
    if (vms?.made.known !== undefined)
      await executePlan(vms.made.plan, vms.made.known, task, { ...context, jobs: vms.made.jobs });
    await inFlight(targets, AT_ONCE, async ({ uuid }) => {
      const instance = await task.journal.instance(uuid);
      if (instance !== undefined) lines.push(await runOn(instance, order, task, tools));
    });
  };
  if (vms === undefined || params.keep_alive) await work();
  else await during(vms, work, task);
  return lines;
}

const runs = ({ group, uuid, spec }: InstanceRecord): Ran => ({ group, uuid, jobs: spec?.jobs });

function firstOfEach({ made }: ErrandVms): readonly Ran[] {
  const first = new Map<string, { readonly index: number } & Ran>();
  for (const { group, uuid, index, jobs } of made.plan.desired) {
    const before = first.get(group);
    if (before === undefined || index < before.index)
      first.set(group, { group, uuid: uuid as InstanceUuid, index, jobs });
  }
  return [...first.values()];
}

/** VMs go however the work ends, unless the task goes on elsewhere, which then sees to them. */
async function during(vms: ErrandVms, work: () => Promise<void>, task: TaskContext): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!task.signal.aborted || isCancelled(task))
      await vms.remove().catch((why: unknown) => {
        task.warn(`the VMs of the errand could not be deleted: ${messageTrail(why)}`);
      });
    throw error;
  }
  await vms.remove();
}

function summary(lines: readonly ErrandLine[]): string {
  const count = (fits: (code: number) => boolean) => lines.filter((line) => fits(line.exit_code)).length;
  const [good, bad] = [count((code) => code === 0), count((code) => code > 0 && code <= 128)];
  return `${good} succeeded, ${bad} errored, ${lines.length - good - bad} canceled`;
}
