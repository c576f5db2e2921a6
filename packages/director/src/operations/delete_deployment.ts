import { isOfAgent } from "@slipway/engine/flows/errors";
import { runInstance } from "@slipway/engine/flows/run-instance";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { display } from "@slipway/engine/model/names";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { planDeletion } from "@slipway/engine/plan/deletion";
import type { AgentReport } from "@slipway/engine/plan/model";
import type { FlowContext } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import { deleteDeploymentParams } from "@slipway/protocol/director/task-params";
import {
  deleteDeployment as deleteRecord,
  detachReleases,
  detachStemcells,
  findDeployment,
} from "../store/deployments.ts";
import { loadInstances } from "../store/instances.ts";
import { askAgents } from "./ask-agents.ts";
import { clearWorkers } from "./compile/workers.ts";
import { namesOf } from "./dns/names.ts";
import { CannotStop, HasIgnored } from "./errors.ts";
import { inFlight } from "./in-flight.ts";
import { orphanUnused, settleNetworksOf } from "./networks/release.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";

const AT_ONCE = 32;
const NO_WATCH: readonly [number, number] = [0, 0];
/** Deadline of an answer with --force: the VMs go whatever their agents say. */
const FORCE_ANSWER_MS = 5_000;
/**
 * Deadline without --force: nothing is deleted if an agent is silent, and the operator can run it again, so it is shorter than
 * that of a deploy.
 */
const ANSWER_MS = 20_000;

/** VMs are deleted, persistent disks go to the orphan list, addresses are free again. */
export const deleteDeployment = operation(deleteDeploymentParams, async ({ force }, task, tools) => {
  const name = task.deployment ?? "";
  return await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
    const deployment = await findDeployment(tools.db, name);
    // Gone already, perhaps by a run of this task that ended before the names were published.
    if (deployment === undefined) {
      await namesOf(tools, task)?.publish();
      return `/deployments/${name}`;
    }
    const event = { action: "delete", objectType: "deployment", objectName: name, deployment: name };
    const parentId = await task.audit(event);
    const context = { ...flowContext(tools, task, name), deletesDeployment: true };
    await settleOpenIntents(context, { giveUp: force });
    await settleNetworksOf(name, force, task, context, tools.db);
    const all = await loadInstances(tools.db, name);
    await clearWorkers(all, context);
    const instances = all.filter(({ compilation }) => compilation !== true);
    refuseIgnored(instances, name);
    const reports = await askAgents(instances, context, {
      timeoutMs: force ? FORCE_ANSWER_MS : ANSWER_MS,
    });
    const stage = task.stage("Deleting instances", [], instances.length);
    await inFlight(instances, AT_ONCE, (instance) =>
      stage.step(display(instance), async () => {
        const agent = reports.get(instance.uuid);
        if (!force) refuseSilent(instance, agent, name);
        try {
          await remove(instance, { agent, force }, context);
        } catch (error) {
          if (!force || task.signal.aborted || !isOfAgent(error)) throw error;
          task.warn(`${messageTrail(error)}. Its VM is deleted all the same`);
          const left = await task.journal.instance(instance.uuid);
          const silent = { responsive: false, why: "its agent fails" } as const;
          if (left !== undefined) await remove(left, { agent: silent, force }, context);
        }
      }),
    );
    const artifacts = task.stage("Removing deployment artifacts", [], 3);
    await artifacts.step("Detaching stemcells", () => task.write((db) => detachStemcells(db, deployment.id)));
    await artifacts.step("Detaching releases", () => task.write((db) => detachReleases(db, deployment.id)));
    // Upstream's stage for properties, which no deployment has any more; the rest is shown there.
    const properties = task.stage("Deleting properties", [], 0);
    await properties.step("Destroying deployment", () =>
      task.write(async (db) => {
        await orphanUnused(db, deployment, [], task);
        await deleteRecord(db, deployment.id);
      }),
    );
    await context.names?.publish();
    await task.audit({ ...event, parentId });
    return `/deployments/${name}`;
  });
});

async function remove(
  instance: InstanceRecord,
  { agent, force }: { readonly agent: AgentReport | undefined; readonly force: boolean },
  context: FlowContext,
): Promise<void> {
  const why = "the deployment is deleted";
  const plan = planDeletion(instance, { agent, orphanVm: false, skipDrain: force, why });
  await runInstance({ uuid: instance.uuid, plan, watchMs: NO_WATCH }, context);
}

function refuseIgnored(instances: readonly InstanceRecord[], name: string): void {
  const ignored = instances.filter(({ ignore }) => ignore).map(display);
  if (ignored.length > 0) throw HasIgnored({ deployment: name, instances: ignored });
}

function refuseSilent(instance: InstanceRecord, agent: AgentReport | undefined, deployment: string): void {
  if (agent === undefined || agent.responsive) return;
  // What it advises is for VMs that are to live on.
  const [what = ""] = agent.why.split("; next: ");
  throw CannotStop({ deployment, instance: display(instance), why: what });
}
