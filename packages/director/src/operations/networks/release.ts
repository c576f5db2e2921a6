import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { FlowContext } from "@slipway/engine/steps/context";
import { networkScope } from "@slipway/engine/steps/create_network";
import { addEvent } from "../../store/events.ts";
import { listNetworks, releaseNetworks } from "../../store/networks.ts";
import type { Db } from "../../store/schema.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { NETWORK_LOCK_MS, networkLock } from "./make.ts";

/** Releases all networks of the deployment except these. Those that are no longer used are orphaned, and deleted later. */
export async function orphanUnused(
  db: Db,
  deployment: { readonly id: number; readonly name: string },
  used: readonly string[],
  task: TaskContext,
): Promise<void> {
  for (const objectName of await releaseNetworks(db, deployment.id, used))
    await addEvent(db, {
      ...{ action: "orphan", objectType: "network", objectName, deployment: deployment.name },
      ...{ user: task.user, taskId: task.id },
    });
}

/** Settles the unfinished networks of a deployment that is about to be deleted. */
export async function settleNetworksOf(
  deployment: string,
  giveUp: boolean,
  task: TaskContext,
  context: FlowContext,
  db: Db,
): Promise<void> {
  for (const { name, ready, deployments } of await listNetworks(db))
    if (!ready && deployments.includes(deployment))
      await task.withLock(networkLock(name), NETWORK_LOCK_MS, async () => {
        await settleOpenIntents(context, { scope: networkScope(name), giveUp });
      });
}
