import { problemsError } from "@slipway/engine/documents/problems";
import { KnownInstances } from "@slipway/engine/flows/run-instance";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { describePlan, planAsJson } from "@slipway/engine/plan/dry-run";
import type { Plan, PlanInput, StateChange } from "@slipway/engine/plan/model";
import { plan } from "@slipway/engine/plan/plan";
import { messageTrail } from "@slipway/kernel/errors";
import { updateDeploymentParams } from "@slipway/protocol/director/task-params";
import type * as v from "valibot";
import {
  type DeploymentRecord,
  ensureDeployment,
  findDeployment,
  listDeployments,
  saveSuccess,
  useStemcells,
} from "../store/deployments.ts";
import { createInstances } from "../store/instances.ts";
import type { TaskContext } from "../tasks/task.ts";
import { executePlan, narrowed } from "./deploy/execute.ts";
import { gather, type Request } from "./deploy/gather.ts";
import { NothingDeployed } from "./errors.ts";
import {
  DEPLOYMENT_LOCK_MS,
  deploymentLock,
  flowContext,
  type OperationContext,
  operation,
} from "./operation.ts";

type Params = v.InferOutput<typeof updateDeploymentParams>;

/** `bosh deploy`, and start, stop, restart and recreate of what is deployed. */
export const updateDeployment = operation(updateDeploymentParams, (params, task, tools) =>
  converge(params, task, tools),
);

export const AS_DEPLOYED = {
  recreate: false,
  recreate_persistent_disks: false,
  dry_run: false,
  force_latest_variables: false,
};

/** A state for one instance, everything else as it was deployed. */
export const changeState = (
  state: StateChange,
  given: { readonly fix: boolean; readonly skipDrain: boolean },
  task: TaskContext,
  tools: OperationContext,
): Promise<string> =>
  converge(
    { state, options: { ...AS_DEPLOYED, fix: given.fix, skip_drain: given.skipDrain ? ["*"] : [] } },
    task,
    tools,
    state.instance,
  );

/** `only`: the id of the one instance that is looked at. */
async function converge(
  params: Params,
  task: TaskContext,
  tools: OperationContext,
  only?: string,
): Promise<string> {
  const name = task.deployment ?? "";
  return await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
    const before = await findDeployment(tools.db, name);
    const deployment = before ?? (await task.write((db) => ensureDeployment(db, name)));
    const action = deployment.manifestText === null ? "create" : "update";
    const event = { action, objectType: "deployment", objectName: name, deployment: name };
    const parentId = await task.audit(event);
    try {
      await deploy(await requestOf(params, deployment, task, tools), deployment, only, task, tools);
    } catch (error) {
      await task.audit({ ...event, parentId, error: messageTrail(error) });
      throw error;
    }
    await task.audit({ ...event, parentId });
    return `/deployments/${name}`;
  });
}

async function requestOf(
  params: Params,
  { name, manifestText }: DeploymentRecord,
  task: TaskContext,
  tools: OperationContext,
): Promise<Request> {
  const row = await tools.db
    .selectFrom("tasks")
    .select("created_at")
    .where("id", "=", task.id)
    .executeTakeFirst();
  const given = {
    deployment: name,
    options: params.options,
    firstDeploy: manifestText === null,
    askedAt: row?.created_at.getTime() ?? 0,
  };
  if ("manifest" in params) {
    const configIds = [...params.cloud_config_ids, ...params.runtime_config_ids];
    return { ...given, manifestText: params.manifest, configIds, state: undefined };
  }
  if (manifestText === null) throw NothingDeployed({ deployment: name });
  const [summary] = await listDeployments(tools.db, [name]);
  const { group, instance, to } = params.state;
  return {
    ...given,
    manifestText,
    configIds: (summary?.configs ?? []).map(({ id }) => id),
    state: { group, instance, to },
  };
}

async function deploy(
  request: Request,
  deployment: DeploymentRecord,
  only: string | undefined,
  task: TaskContext,
  tools: OperationContext,
): Promise<void> {
  const context = flowContext(tools, task, deployment.name);
  const preparing = task.stage("Preparing deployment", [], 1);
  const ready = await preparing.step("Preparing deployment", async () => {
    const input = await gather(request, tools, context);
    const made = only === undefined ? planned(input) : narrowed(planned(input), (uuid) => uuid === only);
    const known = request.options.dry_run ? undefined : await reserve(made, input, deployment, task);
    return { made, known };
  });
  const { made, known } = ready;
  for (const note of made.notes) task.warn(note);
  if (known === undefined) return await show(made, task);

  await executePlan(made, known, task, context);
  await task.write((db) =>
    saveSuccess(db, deployment.id, {
      manifestText: request.manifestText,
      configs: request.configIds,
      stemcells: made.stemcells.map(({ id }) => id),
    }),
  );
}

export function planned(input: PlanInput): Plan {
  const result = plan(input);
  if (!result.ok) throw problemsError("this cannot be deployed", result.problems);
  return result.plan;
}

/**
 * New instances, all addresses and the stemcells are the deployment's before anything is asked of the cloud. Returns what
 * is known of its instances from then on.
 */
export async function reserve(
  { desired, stemcells }: Plan,
  { instances }: PlanInput,
  { id, name }: DeploymentRecord,
  task: TaskContext,
): Promise<KnownInstances> {
  const recorded = new Map(instances.map((instance) => [instance.uuid, instance]));
  const fresh = desired.filter((instance) => {
    const before = recorded.get(instance.uuid);
    if (before === undefined || before.group !== instance.group || before.index !== instance.index)
      return true;
    return instance.ips.some(({ address }) => !before.ips.some((ip) => ip.address === address));
  });
  const ids = stemcells.map((stemcell) => stemcell.id);
  await task.write(async (db) => {
    await createInstances(db, name, task.id, fresh);
    await useStemcells(db, id, ids);
  });
  const changed = new Set<string>(fresh.map(({ uuid }) => uuid));
  return new KnownInstances(task.journal, [
    ...instances.filter(({ uuid }) => !changed.has(uuid)),
    ...fresh.filter(({ uuid }) => !recorded.has(uuid)).map(newInstance),
  ]);
}

/** As it was recorded just now; what was there before and got another address is read again. */
const newInstance = (desired: DesiredInstance): InstanceRecord => ({
  id: 0,
  uuid: desired.uuid,
  group: desired.group,
  index: desired.index,
  az: desired.az,
  state: desired.state,
  bootstrap: desired.bootstrap,
  ignore: false,
  updateCompleted: false,
  spec: null,
  vms: [],
  disks: [],
  ips: desired.ips,
});

/** `--dry-run`: the plan, for people in the event log, for programs in the result. */
async function show(made: Plan, task: TaskContext): Promise<void> {
  const lines = describePlan(made);
  const stage = task.stage("Planned, not done", [], lines.length);
  for (const line of lines) await stage.step(line, () => Promise.resolve());
  task.result(planAsJson(made));
}
