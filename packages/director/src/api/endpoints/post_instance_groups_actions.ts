import { actionQuery } from "@slipway/protocol/director/instance";
import { updateInstanceParams } from "@slipway/protocol/director/task-params";
import { param, queryFlag } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { plain } from "../reply.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

const ACTIONS = ["start", "stop", "restart", "recreate"] as const;

/** The same verbs with `--no-converge`: one instance, as it is. */
export const postInstanceGroupsActions = endpoint({ query: actionQuery }, async (call, services) => {
  const action = ACTIONS.find((known) => known === param(call, "action"));
  if (action === undefined) return plain(404, "not found\n");
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const group = param(call, "group");
  const instance = await instanceOf(services.db, deployment, group, param(call, "index"));
  return startTask(call, services, updateInstanceParams, {
    type: "update_instance",
    description: `${action} instance`,
    deployment,
    params: {
      group,
      instance: instance.uuid,
      action,
      hard: queryFlag(call.query, "hard"),
      skip_drain: queryFlag(call.query, "skip_drain"),
      ignore_unresponsive_agent: queryFlag(call.query, "ignore_unresponsive_agent"),
    },
  });
});
