import { runOther, runSteps } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { planDeletion } from "@slipway/engine/plan/deletion";
import type { FlowContext } from "@slipway/engine/steps/context";
import { deleteVmParams } from "@slipway/protocol/director/task-params";
import type { VmCid } from "@slipway/protocol/ids";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import type { Stage, TaskContext } from "../tasks/task.ts";
import {
  DEPLOYMENT_LOCK_MS,
  deploymentLock,
  flowContext,
  type OperationContext,
  operation,
} from "./operation.ts";
import { whoHas } from "./who-has.ts";

/** Upstream's guess for a VM it knows nothing of. */
const UNKNOWN_STEMCELL_VERSION = 2;

/** `bosh delete-vm`: by cid, whether or not it is recorded. Disks are taken off it first, as far as its agent answers. */
export const deleteVm = operation(deleteVmParams, async ({ vm_cid: given }, task, tools) => {
  const cid = given as VmCid;
  const owner = await task.journal.ownerOf({ vm: cid });
  const stage = task.stage("Delete VM", [], 1);
  if (owner === undefined) {
    await stage.step(cid, () =>
      telling(cid, task, stage, (gone) =>
        deleteUnknown(cid, { ...flowContext(tools, task, ""), gone }, tools),
      ),
    );
    return `vm ${cid} deleted`;
  }
  const row = await tools.db
    .selectFrom("instances as i")
    .innerJoin("deployments as d", "d.id", "i.deployment_id")
    .select("d.name")
    .where("i.uuid", "=", owner.uuid)
    .executeTakeFirstOrThrow();
  return await task.withLock(deploymentLock(row.name), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, row.name);
    await settleOpenIntents(context);
    const instance = await task.journal.ownerOf({ vm: cid });
    if (instance === undefined) return `vm ${cid} deleted`;
    await stage.step(cid, async () => {
      const why = "its VM is deleted by hand";
      const silent = { responsive: false, why } as const;
      const plan = planDeletion(instance, { agent: silent, orphanVm: false, skipDrain: true, why });
      const run = { uuid: instance.uuid, goal: plan, watchMs: [0, 0] } as const;
      await telling(cid, task, stage, (gone) => runSteps(["delete_vm"], run, { ...context, gone }));
    });
    return `vm ${cid} deleted`;
  });
});

/** Runs a deletion and reports in upstream's words whether the VM was there. */
async function telling(
  cid: VmCid,
  task: TaskContext,
  stage: Stage,
  work: (gone: (vm: VmCid) => void) => Promise<void>,
): Promise<void> {
  const gone: VmCid[] = [];
  await work((vm) => gone.push(vm));
  if (gone.includes(cid)) task.warn(`VM ${cid} does not exist. Deletion is skipped`);
  else await stage.step(`VM ${cid} is successfully deleted`, () => Promise.resolve());
}

async function deleteUnknown(cid: VmCid, context: FlowContext, tools: OperationContext): Promise<void> {
  const orphaned = (await listOrphanedVms(tools.db)).find((one) => one.cid === cid);
  const has = () => whoHas(cid, (cloud, options) => cloud.hasVm(cid, options), context);
  const vm = orphaned ?? { cid, cpi: await has(), stemcellApiVersion: UNKNOWN_STEMCELL_VERSION };
  await runOther("delete_orphaned_vm", vm, context);
}
