import { problemResolutions } from "@slipway/protocol/director/problem";
import { applyParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `{"resolutions": {"4": "recreate_vm"}}`; null takes the default of the problem's type. */
export const putDeploymentsNameProblems = endpoint({ body: problemResolutions }, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const { resolutions, max_in_flight_overrides: overrides } = await call.json();
  return startTask(call, services, applyParams, {
    type: "cck_apply",
    description: "apply resolutions",
    deployment,
    params: { deployment, resolutions, ...(overrides && { max_in_flight_overrides: overrides }) },
  });
});
