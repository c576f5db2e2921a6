import { DirectorError } from "@slipway/engine/model/director-error";
import { stateQuery } from "@slipway/protocol/director/deployment";
import { changeStateParams, STATES } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../../store/instances.ts";
import type { Db } from "../../store/schema.ts";
import { type Call, given, param } from "../call.ts";
import { deployDescription, deployOptionsOf } from "../deploy-options.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** start, stop, restart, recreate: of all (`*`), of a group, of an instance. The stored manifest is deployed again. */
export const putDeploymentsNameJobs = endpoint({ query: stateQuery }, async (call, services) => {
  const { db } = services;
  const deployment = await deploymentOf(db, param(call, "deployment"));
  const to = STATES.find((state) => state === given(call.query, "state"));
  if (to === undefined) throw new DirectorError(140006, `'state' must be one of ${STATES.join(", ")}`);
  if ((await call.text()).trim() !== "") {
    throw new DirectorError(
      40005,
      "send an empty body: the stored manifest is used. `bosh deploy` changes it",
    );
  }
  if (deployment.manifestText === null) {
    throw new DirectorError(
      440001,
      `deployment '${deployment.name}' has no manifest yet: none of its deploys has succeeded; deploy it first`,
    );
  }
  return startTask(call, services, changeStateParams, {
    type: "update_deployment",
    description: deployDescription(call.query),
    deployment: deployment.name,
    params: {
      state: { ...(await target(call, db, deployment.name)), to },
      options: deployOptionsOf(call.query),
    },
  });
});

async function target(call: Pick<Call, "params">, db: Db, deployment: string) {
  const group = param(call, "group");
  const { index } = call.params;
  if (group === "*") return {};
  if (index !== undefined) return { group, instance: (await instanceOf(db, deployment, group, index)).uuid };
  const instances = await loadInstances(db, deployment);
  if (instances.some((instance) => instance.group === group)) return { group };
  throw new DirectorError(70009, `deployment '${deployment}' has no instances in a group '${group}'`, {
    status: 404,
  });
}
