import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { causeOf } from "@slipway/engine/flows/errors";
import { activeDisks } from "@slipway/engine/model/records";
import { snapshotDeploymentParams } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../store/instances.ts";
import { tellOfSnapshotFailure } from "./monitor-alerts.ts";
import { operation } from "./operation.ts";
import { maySnapshot, takeSnapshots } from "./snapshots/take.ts";
import { withDeployment } from "./snapshots/with-deployment.ts";

/** `bosh take-snapshot`: of all disks. One that the cloud refuses does not keep it from the others. */
export const snapshotDeployment = operation(snapshotDeploymentParams, ({ deployment }, task, tools) =>
  withDeployment(deployment, task, tools, async (context) => {
    const done = `snapshots of deployment '${deployment}' created`;
    if (!maySnapshot(task, tools)) return done;
    const all = await loadInstances(tools.db, deployment);
    const instances = all.filter((instance) => activeDisks(instance).length > 0);
    const stage = task.stage("Taking snapshots", [], instances.length);
    let failures = 0;
    for (const instance of instances)
      await takeSnapshots(instance, stage, context, task, tools).catch((error: unknown) => {
        if (!(causeOf(error) instanceof CpiRefused)) throw error;
        failures += 1;
        tellOfSnapshotFailure(`${instance.group}/${instance.index}`, causeOf(error), deployment, tools);
      });
    return failures === 0 ? done : `${done}, with ${failures} failure(s)`;
  }),
);
