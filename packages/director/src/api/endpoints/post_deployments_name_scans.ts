import { scanParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh cloud-check`: looks for problems; `GET problems` shows them afterwards. */
export const postDeploymentsNameScans = endpoint({}, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  return startTask(call, services, scanParams, {
    type: "cck_scan",
    description: "scan cloud",
    deployment,
    params: { deployment },
  });
});
