import { deleteVmParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteVmsCid = endpoint({}, async (call, services) => {
  const cid = param(call, "cid");
  return startTask(call, services, deleteVmParams, {
    type: "delete_vm",
    description: `delete vm ${cid}`,
    params: { vm_cid: cid },
  });
});
