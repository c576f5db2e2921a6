import { errandRun } from "@slipway/protocol/director/errand";
import { runErrandParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh run-errand`. */
export const postErrandsRuns = endpoint({ body: errandRun }, async (call, services) => {
  const asked = await call.json();
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const errand = param(call, "errand");
  return startTask(call, services, runErrandParams, {
    type: "run_errand",
    description: `run errand ${errand} from deployment ${deployment}`,
    deployment,
    params: {
      deployment,
      errand,
      keep_alive: asked["keep-alive"] ?? false,
      when_changed: asked["when-changed"] ?? false,
      instances: (asked.instances ?? []).map(({ group, id }) => (id ? { group, id } : { group })),
    },
  });
});
