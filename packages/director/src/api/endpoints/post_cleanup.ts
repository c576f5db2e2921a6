import { cleanUpOrder } from "@slipway/protocol/director/cleanup";
import { deleteArtifactsParams } from "@slipway/protocol/director/task-params";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh clean-up` */
export const postCleanup = endpoint({ body: cleanUpOrder }, async (call, services) => {
  const { config } = await call.json();
  const all = config.remove_all === true;
  return startTask(call, services, deleteArtifactsParams, {
    type: "delete_artifacts",
    description: all ? "clean up all" : "clean up",
    params: { remove_all: all, keep_orphaned_disks: config.keep_orphaned_disks === true },
  });
});
