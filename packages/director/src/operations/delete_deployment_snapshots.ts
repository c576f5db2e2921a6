import { deleteDeploymentSnapshotsParams } from "@slipway/protocol/director/task-params";
import { listSnapshots } from "../store/snapshots.ts";
import { operation } from "./operation.ts";
import { deleteSnapshots } from "./snapshots/delete.ts";
import { withDeployment } from "./snapshots/with-deployment.ts";

/** `bosh delete-snapshots`: all of the disks its instances have. Those of orphaned disks stay with them. */
export const deleteDeploymentSnapshots = operation(
  deleteDeploymentSnapshotsParams,
  ({ deployment }, task, tools) =>
    withDeployment(deployment, task, tools, async (context) => {
      const found = await listSnapshots(tools.db, deployment);
      await deleteSnapshots(found, task.stage("Deleting snapshots", [], found.length), context);
      return `snapshots of deployment '${deployment}' deleted`;
    }),
);
