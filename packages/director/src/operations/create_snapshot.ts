import type { InstanceUuid } from "@slipway/engine/model/names";
import { createSnapshotParams } from "@slipway/protocol/director/task-params";
import { NothingMatched } from "./errors.ts";
import { operation } from "./operation.ts";
import { maySnapshot, takeSnapshots } from "./snapshots/take.ts";
import { withDeployment } from "./snapshots/with-deployment.ts";

/** `bosh take-snapshot GROUP/ID`. */
export const createSnapshot = operation(createSnapshotParams, ({ deployment, instance: uuid }, task, tools) =>
  withDeployment(deployment, task, tools, async (context) => {
    const instance = await task.journal.instance(uuid as InstanceUuid);
    if (instance === undefined) throw NothingMatched({ deployment, filter: uuid });
    const stage = task.stage("Taking snapshots", [], 1);
    const cids = maySnapshot(task, tools) ? await takeSnapshots(instance, stage, context, task, tools) : [];
    return `snapshot(s) ${cids.join(", ")} created`;
  }),
);
