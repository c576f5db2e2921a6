import { refusedAs } from "@slipway/engine/clouds/cloud";
import { runSteps } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { display, slug } from "@slipway/engine/model/names";
import { activeDisk, activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { FlowContext } from "@slipway/engine/steps/context";
import { attachDiskParams } from "@slipway/protocol/director/task-params";
import type { DiskCid } from "@slipway/protocol/ids";
import { beingDeleted, diskHolder, findOrphanDisk, giveDisk } from "../store/disks.ts";
import { DiskInUse } from "../store/errors.ts";
import { addEvent } from "../store/events.ts";
import { findInstance } from "../store/instances.ts";
import { diskByHand } from "./by-hand.ts";
import { DiskElsewhere, DiskNotInCloud, InstanceGone, InstanceIgnored, InstanceStarted } from "./errors.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";
import { whoHas } from "./who-has.ts";

/** Runs `bosh attach-disk`: a disk of the orphan list, or an unknown one, becomes the instance's. The old one is orphaned. */
export const attachDisk = operation(attachDiskParams, async (params, task, tools) => {
  const { deployment, group, instance: id, disk_cid: given, disk_properties: properties } = params;
  const cid = given as DiskCid;
  return await task.withLock(deploymentLock(deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, deployment);
    await settleOpenIntents(context);
    const instance = await findInstance(tools.db, deployment, group, id);
    if (instance === undefined) throw InstanceGone({ deployment, instance: `${group}/${id}` });
    refuseUnfit(instance, deployment);
    const before = activeDisk(instance);
    const orphan = before?.cid === cid ? undefined : await findOrphanDisk(tools.db, cid);
    const known = before?.cid === cid ? before : orphan;
    // Before the instance loses its own disk for one that it cannot have.
    if (orphan?.claim !== undefined) throw beingDeleted(cid, orphan.claim);
    const holder = before?.cid === cid ? undefined : await diskHolder(tools.db, cid);
    if (holder !== undefined) throw DiskInUse({ cid, ...holder });
    const its = activeVm(instance)?.cpi ?? before?.cpi;
    const has = () => whoHas(cid, (cloud, options) => cloud.hasDisk(cid, options), context);
    const cpi = known?.cpi ?? its ?? (await has());
    const { nameOf } = context.clouds;
    if (its !== undefined && nameOf(cpi) !== nameOf(its))
      throw DiskElsewhere({ cid, cpi, instance: display(instance), its });
    // Before anything is taken from the instance: a mistyped cid must not cost it its disk.
    if (!(await isThere(cid, cpi, context))) throw DiskNotInCloud({ cid, instance: display(instance) });
    await task.stage("Attaching disk", [], 1).step(`${cid} to ${display(instance)}`, async () => {
      const run = diskByHand(instance, "another disk was attached by hand");
      if (before?.cid !== cid) {
        await runSteps(["unmount_disk", "detach_disk"], run, context);
        await task.write(async (db) => {
          const old = await giveDisk(db, {
            instance: instance.uuid,
            cid,
            cpi,
            orphaned: orphan !== undefined,
            // `copy`: what is recorded of the old disk is taken for the new one too.
            properties: known === undefined || properties === "copy" ? (before ?? UNKNOWN) : undefined,
          });
          if (old === null) return;
          const event = {
            ...{
              action: "orphan",
              objectType: "disk",
              objectName: old,
              deployment,
              instance: slug(instance),
            },
            ...{ user: task.user, taskId: task.id },
          };
          await addEvent(db, { ...event, parentId: await addEvent(db, event) });
        });
      }
      await runSteps(["attach_disk", "mount_disk"], run, context);
    });
    return `attached disk '${cid}' to '${group}/${instance.uuid}' in deployment '${deployment}'`;
  });
});

const UNKNOWN = { size: 1, cloudProperties: {} };

/** A CPI that cannot say is believed to have it: attaching will tell. */
async function isThere(cid: DiskCid, cpi: string, context: FlowContext): Promise<boolean> {
  try {
    return await context.clouds.cloud(cpi).hasDisk(cid, {
      requestId: newRequestId(context),
      signal: context.signal,
      log: context.cpiLog,
    });
  } catch (error) {
    if (refusedAs(error, "NotImplemented", "NotSupported")) return true;
    throw error;
  }
}

function refuseUnfit(instance: InstanceRecord, deployment: string): void {
  if (instance.ignore) throw InstanceIgnored({ deployment, instance: slug(instance) });
  if (instance.state === "started") throw InstanceStarted({ deployment, instance: slug(instance) });
}
