import type { Manifest } from "@slipway/engine/manifest/model";
import type { AuditEvent } from "@slipway/engine/model/audit-event";
import { describePlan, planAsJson } from "@slipway/engine/plan/dry-run";
import type { Plan, StateChange } from "@slipway/engine/plan/model";
import { messageTrail } from "@slipway/kernel/errors";
import { updateDeploymentParams } from "@slipway/protocol/director/task-params";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import {
  type DeploymentRecord,
  ensureDeployment,
  findDeployment,
  listDeployments,
  saveSuccess,
} from "../store/deployments.ts";
import { saveLinks } from "../store/links.ts";
import { teamsOfTask } from "../tasks/list.ts";
import type { Stage, TaskContext } from "../tasks/task.ts";
import { executePlan } from "./deploy/execute.ts";
import { AS_DEPLOYED, type DeploymentRequest, deployedRequest, gather } from "./deploy/gather.ts";
import { knownReleases, lockedReleases } from "./deploy/jobs-planner.ts";
import { planDeploy } from "./deploy/plan-deploy.ts";
import { deploymentWords, instanceWords, tellOfWork, type Words } from "./monitor-alerts.ts";
import { orphanUnused } from "./networks/release.ts";
import {
  askedAt,
  DEPLOYMENT_LOCK_MS,
  deploymentLock,
  flowContext,
  type OperationContext,
  operation,
} from "./operation.ts";
import { removeUnreadBlobs } from "./releases/blobs.ts";

type Params = v.InferOutput<typeof updateDeploymentParams>;

/** `bosh deploy`, and start, stop, restart and recreate of what is deployed. */
export const updateDeployment = operation(updateDeploymentParams, (params, task, tools) =>
  converge(params, deploymentWords(task.deployment ?? "", tools), task, tools),
);

/** A state for one instance, everything else as it was deployed. */
export const changeState = (
  state: StateChange & { readonly instance: string },
  given: { readonly fix: boolean; readonly skipDrain: boolean; readonly action: string },
  task: TaskContext,
  tools: OperationContext,
): Promise<string> =>
  converge(
    { state, options: { ...AS_DEPLOYED, fix: given.fix, skip_drain: given.skipDrain ? ["*"] : [] } },
    instanceWords(given.action, `${state.group}/${state.instance}`, tools),
    task,
    tools,
    state.instance,
  );

/** `only`: the id of the one instance that is looked at. */
async function converge(
  params: Params,
  words: Words,
  task: TaskContext,
  tools: OperationContext,
  only?: string,
): Promise<string> {
  const name = task.deployment ?? "";
  task.atEnd(() => removeUnreadBlobs(tools.db, tools.blobs));
  return await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
    const before = await findDeployment(tools.db, name);
    const deployment =
      before ?? (await task.write(async (db) => ensureDeployment(db, name, await teamsOfTask(db, task.id))));
    const action = deployment.manifestText === null ? "create" : "update";
    const event = { action, objectType: "deployment", objectName: name, deployment: name };
    // As upstream: what is done to one instance is an event of the instance.
    const audit = async (more: Partial<AuditEvent>) =>
      only === undefined ? await task.audit({ ...event, ...more }) : undefined;
    const was = await usedBy(name, tools);
    const dryRun = params.options.dry_run;
    const begun = dryRun ? undefined : await audit({});
    const failed = dryRun ? () => undefined : tellOfWork(words, name, task, tools);
    try {
      await deploy(await requestOf(params, deployment, task, tools), deployment, only, task, tools);
    } catch (error) {
      failed(error);
      const context = { before: was, after: await usedBy(name, tools) };
      await audit({ parentId: begun ?? (await audit({})), error: messageTrail(error), context });
      throw error;
    }
    // As upstream: a dry run is an event only if it fails.
    if (!dryRun) await audit({ parentId: begun, context: { before: was, after: await usedBy(name, tools) } });
    return `/deployments/${name}`;
  });
}

/** Releases and stemcells, as upstream's events name them. */
async function usedBy(name: string, { db }: OperationContext): Promise<JsonObject> {
  const [found] = await listDeployments(db, [name]);
  const named = (list: readonly { readonly name: string; readonly version: string }[] = []) =>
    list.map((one) => `${one.name}/${one.version}`);
  const [releases, stemcells] = [named(found?.releases), named(found?.stemcells)];
  return { ...(releases.length > 0 && { releases }), ...(stemcells.length > 0 && { stemcells }) };
}

const UNTOLD: Pick<Stage, "step"> = { step: (_, work) => work(() => undefined) };

async function requestOf(
  params: Params,
  { name, manifestText }: DeploymentRecord,
  task: TaskContext,
  tools: OperationContext,
): Promise<DeploymentRequest> {
  const given = {
    deployment: name,
    options: params.options,
    firstDeploy: manifestText === null,
    versions: "manifest" in params ? ("new" as const) : ("deployed" as const),
    askedAt: await askedAt(task, tools),
  };
  if ("manifest" in params) {
    const configIds = [...params.cloud_config_ids, ...params.runtime_config_ids];
    return { ...given, manifestText: params.manifest, configIds, state: undefined };
  }
  const { group, instance, to } = params.state;
  return { ...(await deployedRequest(name, tools)), ...given, state: { group, instance, to } };
}

async function deploy(
  request: DeploymentRequest,
  deployment: DeploymentRecord,
  only: string | undefined,
  task: TaskContext,
  tools: OperationContext,
): Promise<void> {
  const context = flowContext(tools, task, deployment.name);
  const { dry_run: dryRun } = request.options;
  const deploying = {
    deployment,
    dryRun,
    only: (uuid: string) => only === undefined || uuid === only,
    // As upstream: of one instance only the changes are shown.
    preparing: only === undefined ? task.stage("Preparing deployment") : UNTOLD,
    releasesOf: (manifest: Manifest) =>
      only === undefined ? lockedReleases(manifest, task, tools) : knownReleases(manifest, tools),
  };
  const gathered = () => gather(request, tools, context, task);
  const { plan, known, jobs, releases, variables, links, managedNetworks } = await planDeploy(
    gathered,
    deploying,
    task,
    tools,
    context,
  );
  for (const note of plan.notes) task.warn(note);
  if (known === undefined) return await show(plan, task, request.options.dry_run_steps);

  await executePlan(plan, known, task, { ...context, jobs }, only !== undefined);
  await task.write(async (db) => {
    await saveSuccess(db, deployment.id, {
      manifestText: request.manifestText,
      configs: request.configIds,
      stemcells: plan.stemcells.map(({ id }) => id),
      releases,
    });
    await variables.deployed(db);
    await saveLinks(db, deployment.id, links);
    await orphanUnused(db, deployment, managedNetworks, task);
  });
  // Links that are gone have no names any more.
  await context.names?.publish();
}

/** `--dry-run`: the plan, for people in the event log, for programs in the result. */
async function show(made: Plan, task: TaskContext, steps: boolean | undefined): Promise<void> {
  const lines = describePlan(made, { steps });
  const stage = task.stage("Planned, not done", [], lines.length);
  for (const line of lines) await stage.step(line, () => Promise.resolve());
  task.result(planAsJson(made));
}
