import {
  deleteDeploymentSnapshotsParams,
  deleteSnapshotParams,
} from "@slipway/protocol/director/task-params";
import { listSnapshots } from "../../store/snapshots.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { NoSuchSnapshot } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh delete-snapshots`. */
export const deleteDeploymentsNameSnapshots = endpoint({}, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  return startTask(call, services, deleteDeploymentSnapshotsParams, {
    type: "delete_deployment_snapshots",
    description: "delete deployment snapshots",
    deployment,
    params: { deployment },
  });
});

/** `bosh delete-snapshot CID`. */
export const deleteDeploymentsNameSnapshotsCid = endpoint({}, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const wanted = param(call, "cid");
  const known = await listSnapshots(services.db, deployment);
  if (!known.some(({ cid }) => cid === wanted)) throw NoSuchSnapshot({ cid: wanted, deployment });
  return startTask(call, services, deleteSnapshotParams, {
    type: "delete_snapshot",
    description: "delete snapshot",
    deployment,
    params: { deployment, snapshot_cid: wanted },
  });
});
