import * as v from "valibot";
import { deploymentsWithDisks } from "../store/snapshots.ts";
import { enqueue } from "../tasks/queue.ts";
import { operation } from "./operation.ts";

/**
 * Queues a task for each deployment that has disks, by schedule. The tasks carry the number of this one, so that a run after a
 * crash queues none twice.
 */
export const snapshotDeployments = operation(v.object({}), (_, task) =>
  task.write(async (db) => {
    const contextId = `${task.type}-${task.id}`;
    const asked = await db
      .selectFrom("tasks")
      .select("id")
      .where("context_id", "=", contextId)
      .where("type", "=", "snapshot_deployment")
      .orderBy("id")
      .execute();
    const ids = asked.map(({ id }) => id);
    if (ids.length === 0)
      for (const deployment of await deploymentsWithDisks(db))
        ids.push(
          await enqueue(db, {
            type: "snapshot_deployment",
            description: "snapshot deployment",
            user: task.user,
            deployment,
            contextId,
            params: { deployment },
          }),
        );
    return `Enqueued snapshot tasks [${ids.join(", ")}]`;
  }),
);
