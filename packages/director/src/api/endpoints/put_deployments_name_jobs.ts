import { stateQuery } from "@slipway/protocol/director/deployment";
import { changeStateParams, STATES } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../../store/instances.ts";
import type { Db } from "../../store/schema.ts";
import { type Call, param, queryString } from "../call.ts";
import { deployDescription, deployOptionsOf } from "../deploy-options.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { BadParameter, ManifestNotWanted, NeverDeployed, NoSuchGroup } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** start, stop, restart, recreate: of all (`*`), of a group, of an instance. The stored manifest is deployed again. */
export const putDeploymentsNameJobs = endpoint({ query: stateQuery }, async (call, services) => {
  const { db } = services;
  const deployment = await deploymentOf(db, param(call, "deployment"));
  const to = STATES.find((state) => state === queryString(call.query, "state"));
  if (to === undefined)
    throw BadParameter({ name: "state", expected: `one of ${STATES.join(", ")}`, number: 140006 });
  if ((await call.text()).trim() !== "") {
    throw ManifestNotWanted({});
  }
  if (deployment.manifestText === null) {
    throw NeverDeployed({ deployment: deployment.name });
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
  throw NoSuchGroup({ deployment, group });
}
