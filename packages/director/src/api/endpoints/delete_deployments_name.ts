import { deploymentDeletionQuery } from "@slipway/protocol/director/deployment";
import { deleteDeploymentParams } from "@slipway/protocol/director/task-params";
import { param, queryFlag } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteDeploymentsName = endpoint({ query: deploymentDeletionQuery }, async (call, services) => {
  const { name } = await deploymentOf(services.db, param(call, "deployment"));
  return startTask(call, services, deleteDeploymentParams, {
    type: "delete_deployment",
    description: `delete deployment ${name}`,
    deployment: name,
    params: { force: queryFlag(call.query, "force") },
  });
});
