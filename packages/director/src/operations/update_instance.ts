import { slug } from "@slipway/engine/model/names";
import { updateInstanceParams } from "@slipway/protocol/director/task-params";
import { findInstance } from "../store/instances.ts";
import { IsolatedErrand } from "./errands/errors.ts";
import { NoDeploymentNamed } from "./errors.ts";
import { operation } from "./operation.ts";
import { changeState } from "./update_deployment.ts";

/** `--no-converge`: one instance, and nothing of the others is looked at. */
export const updateInstance = operation(updateInstanceParams, async (params, task, tools) => {
  const { group, instance, action, hard, skip_drain: skipDrain, ignore_unresponsive_agent: fix } = params;
  const { deployment } = task;
  if (deployment === undefined) throw NoDeploymentNamed({ task: task.id });
  const found = await findInstance(tools.db, deployment, group, instance);
  // As upstream, the task fails: what an errand runs in comes and goes with its runs.
  if (found?.errand) throw IsolatedErrand({ action, instance: slug(found), deployment });
  const to = {
    start: "started",
    stop: hard ? "detached" : "stopped",
    restart: "restart",
    recreate: "recreate",
  };
  await changeState(
    { group, instance, to: to[action] as "started" | "stopped" | "detached" | "restart" | "recreate" },
    { fix, skipDrain, action },
    task,
    tools,
  );
  return `${group}/${instance}`;
});
