import { runOther } from "@slipway/engine/flows/run-steps";
import { messageTrail } from "@slipway/kernel/errors";
import * as v from "valibot";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import { flowContext, operation } from "./operation.ts";

/** Deletes the VMs that create-swap-delete has left. A VM that cannot be deleted is tried again next time. */
export const deleteOrphanedVms = operation(v.object({}), async (_, task, tools) => {
  const all = await listOrphanedVms(tools.db);
  const stage = task.stage("Deleting orphaned VMs", [], all.length);
  let failed = 0;
  for (const vm of all) {
    const context = flowContext(tools, task, vm.deployment);
    await stage
      .step(vm.cid, () => runOther("delete_orphaned_vm", vm, context))
      .catch((error: unknown) => {
        task.signal.throwIfAborted();
        task.debug(messageTrail(error));
        failed += 1;
      });
  }
  return `${all.length - failed} orphaned VMs deleted, ${failed} left`;
});
