import { deleteSnapshotParams } from "@slipway/protocol/director/task-params";
import { listSnapshots } from "../store/snapshots.ts";
import { operation } from "./operation.ts";
import { deleteSnapshots } from "./snapshots/delete.ts";
import { withDeployment } from "./snapshots/with-deployment.ts";

/** `bosh delete-snapshot CID`. */
export const deleteSnapshot = operation(
  deleteSnapshotParams,
  ({ deployment, snapshot_cid: wanted }, task, tools) =>
    withDeployment(deployment, task, tools, async (context) => {
      const found = (await listSnapshots(tools.db, deployment)).filter(({ cid }) => cid === wanted);
      await deleteSnapshots(found, task.stage("Deleting snapshots", [], found.length), context);
      return `snapshot(s) ${wanted} deleted`;
    }),
);
