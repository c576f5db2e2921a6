import { deleteOrphanNetworksParams } from "@slipway/protocol/director/task-params";
import { NetworkInUse, NoSuchNetwork } from "../../store/errors.ts";
import { findNetwork } from "../../store/networks.ts";
import { param } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** Deletes an orphaned network. A network in use goes when its deployments do. */
export const deleteNetworksName = endpoint({}, async (call, services) => {
  const name = param(call, "name");
  const found = await findNetwork(services.db, name);
  if (found === undefined) throw NoSuchNetwork({ network: name });
  if (found.orphanedAt === null) throw NetworkInUse({ network: name, deployments: found.deployments });
  return startTask(call, services, deleteOrphanNetworksParams, {
    type: "delete_orphan_networks",
    description: "delete orphan networks",
    params: { names: [name] },
  });
});
