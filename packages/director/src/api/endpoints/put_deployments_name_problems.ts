import { applyParams } from "@slipway/protocol/director/task-params";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { jsonBody, param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import type { Handler } from "../route.ts";
import { startTask } from "../start-task.ts";

const body = open({
  resolutions: applyParams.entries.resolutions,
  max_in_flight_overrides: v.optional(v.nullable(mapOf(v.string()))),
});

/** `{"resolutions": {"4": "recreate_vm"}}`; null takes the default of the problem's type. */
export const putDeploymentsNameProblems: Handler = async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const { resolutions, max_in_flight_overrides: overrides } = await jsonBody(call, body);
  return startTask(call, services, applyParams, {
    type: "cck_apply",
    description: "apply resolutions",
    deployment,
    params: { deployment, resolutions, ...(overrides && { max_in_flight_overrides: overrides }) },
  });
};
