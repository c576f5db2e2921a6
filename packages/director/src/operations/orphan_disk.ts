import { changeInstance, runSteps } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { orphanDiskParams } from "@slipway/protocol/director/task-params";
import type { DiskCid } from "@slipway/protocol/ids";
import { diskHolder } from "../store/disks.ts";
import { wasDone } from "../store/events.ts";
import { diskByHand } from "./by-hand.ts";
import { DiskOfStarted } from "./errors.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";
import { mustBeSeen } from "./since-restore.ts";

/** `bosh orphan-disk`: taken from its instance, kept in the orphan list. */
export const orphanDisk = operation(orphanDiskParams, async ({ disk_cid: given }, task, tools) => {
  const cid = given as DiskCid;
  const holder = await diskHolder(tools.db, cid);
  const orphaned = { action: "orphan", objectType: "disk", objectName: cid };
  if (holder === undefined) {
    // As upstream: there is nothing to do. A disk that this very task has orphaned needs no warning.
    if (!(await wasDone(tools.db, task.id, orphaned)))
      await task.stage("Orphan disk", [], 1).step(cid, () => {
        task.warn(`Disk ${cid} does not exist. Orphaning is skipped`);
        return Promise.resolve();
      });
    return `disk ${cid} orphaned`;
  }
  const { deployment } = holder;
  // The task names no deployment. What else may have come to use the disk matters only when it is deleted.
  await mustBeSeen({ type: task.type, deployment }, tools.db);
  return await task.withLock(deploymentLock(deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, deployment);
    await settleOpenIntents(context);
    const instance = await task.journal.ownerOf({ disk: cid });
    if (instance === undefined) return `disk ${cid} orphaned`;
    if (
      instance.state === "started" &&
      instance.disks.some((disk) => disk.cid === cid && disk.attachedTo !== null)
    )
      throw DiskOfStarted({ cid, instance: holder.instance, deployment });
    await task.stage("Orphan disk", [], 1).step(cid, async () => {
      // First: the next deploy looks at the instance again, whatever becomes of this.
      await changeInstance(instance.uuid, context, (writes) =>
        writes.updateInstance({ updateCompleted: false }),
      );
      const run = diskByHand(instance, "orphaned by hand", [cid]);
      const steps = ["dissociate_disks", "unmount_old_disk", "detach_old_disk", "orphan_disk"] as const;
      await runSteps(steps, run, context);
    });
    return `disk ${cid} orphaned`;
  });
});
