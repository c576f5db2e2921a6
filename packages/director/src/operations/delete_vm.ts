import { runOther, runSteps } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { planDeletion } from "@slipway/engine/plan/deletion";
import { deleteVmParams } from "@slipway/protocol/director/task-params";
import type { VmCid } from "@slipway/protocol/ids";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import type { TaskContext } from "../tasks/task.ts";
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
    await stage.step(cid, () => deleteUnknown(cid, task, tools));
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
      await runSteps(["delete_vm"], { uuid: instance.uuid, goal: plan, watchMs: [0, 0] }, context);
    });
    return `vm ${cid} deleted`;
  });
});

async function deleteUnknown(cid: VmCid, task: TaskContext, tools: OperationContext): Promise<void> {
  const context = flowContext(tools, task, "");
  const orphaned = (await listOrphanedVms(tools.db)).find((one) => one.cid === cid);
  const has = () => whoHas(cid, (cloud, options) => cloud.hasVm(cid, options), context);
  const vm = orphaned ?? { cid, cpi: await has(), stemcellApiVersion: UNKNOWN_STEMCELL_VERSION };
  await runOther("delete_orphaned_vm", vm, context);
}
