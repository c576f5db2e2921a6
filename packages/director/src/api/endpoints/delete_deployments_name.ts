import { deleteDeploymentParams } from "@slipway/protocol/director/task-params";
import { flag, param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import type { Handler } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteDeploymentsName: Handler = async (call, services) => {
  const { name } = await deploymentOf(services.db, param(call, "deployment"));
  return startTask(call, services, deleteDeploymentParams, {
    type: "delete_deployment",
    description: `delete deployment ${name}`,
    deployment: name,
    params: { force: flag(call.query, "force") },
  });
};
