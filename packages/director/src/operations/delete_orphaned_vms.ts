import { refusedAs } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/flows/calls";
import * as v from "valibot";
import { listOrphanedVms, removeOrphanedVm } from "../store/orphaned-vms.ts";
import { operation } from "./operation.ts";

/** What create-swap-delete has left behind. One that cannot be deleted is tried again next time. */
export const deleteOrphanedVms = operation(v.object({}), async (_, task, shop) => {
  const all = await listOrphanedVms(shop.db);
  const stage = task.stage("Deleting orphaned VMs", [], all.length);
  let failed = 0;
  for (const vm of all) {
    await stage
      .step(vm.cid, async () => {
        try {
          await shop.clouds.cloud(vm.cpi).deleteVm(vm.cid, {
            requestId: newRequestId(shop),
            stemcellApiVersion: vm.stemcellApiVersion,
            signal: task.signal,
            log: (text) => task.cpi(text),
          });
        } catch (error) {
          if (!refusedAs(error, "VMNotFound")) throw error;
        }
        await removeOrphanedVm(shop.db, vm.cid);
        await task.audit({
          action: "delete",
          objectType: "vm",
          objectName: vm.cid,
          deployment: vm.deployment,
        });
      })
      .catch((error: unknown) => {
        task.signal.throwIfAborted();
        task.debug(String(error));
        failed += 1;
      });
  }
  return `${all.length - failed} orphaned VMs deleted, ${failed} left`;
});
