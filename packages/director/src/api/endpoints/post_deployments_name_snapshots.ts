import { createSnapshotParams, snapshotDeploymentParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh take-snapshot`. */
export const postDeploymentsNameSnapshots = endpoint({}, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  return startTask(call, services, snapshotDeploymentParams, {
    type: "snapshot_deployment",
    description: "snapshot deployment",
    deployment,
    params: { deployment },
  });
});

/** `bosh take-snapshot GROUP/ID`. */
export const postJobsGroupIndexSnapshots = endpoint({}, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const { uuid } = await instanceOf(services.db, deployment, param(call, "group"), param(call, "index"));
  return startTask(call, services, createSnapshotParams, {
    type: "create_snapshot",
    description: "create snapshot",
    deployment,
    params: { deployment, instance: uuid },
  });
});
