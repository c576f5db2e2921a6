import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { networkScope } from "@slipway/engine/steps/create_network";
import { deleteOrphanNetworksParams } from "@slipway/protocol/director/task-params";
import { NetworkInUse } from "../store/errors.ts";
import { findNetwork, removeNetwork } from "../store/networks.ts";
import type { TaskContext } from "../tasks/task.ts";
import { deleteSubnets, NETWORK_LOCK_MS, networkLock } from "./networks/make.ts";
import { flowContext, type OperationContext, operation } from "./operation.ts";

/** A crash in between goes on where it was. One that cannot be deleted stays orphaned. */
export const deleteOrphanNetworks = operation(deleteOrphanNetworksParams, async ({ names }, task, tools) => {
  const stage = task.stage("Deleting orphaned networks", [], names.length);
  for (const name of names)
    await stage.step(`Deleting orphaned network ${name}`, () =>
      task.withLock(networkLock(name), NETWORK_LOCK_MS, () => deleteOne(name, task, tools)),
    );
  return `orphaned network(s) ${names.join(", ")} deleted`;
});

async function deleteOne(name: string, task: TaskContext, tools: OperationContext): Promise<void> {
  const context = flowContext(tools, task, "");
  await settleOpenIntents(context, { scope: networkScope(name) });
  const network = await findNetwork(tools.db, name);
  if (network === undefined) return;
  // A deploy may have come in between.
  if (network.orphanedAt === null) throw NetworkInUse({ network: name, deployments: network.deployments });
  await deleteSubnets(network, task, context);
  await task.write((db) => removeNetwork(db, name));
}
