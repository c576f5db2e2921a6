import type { DiskCid } from "@slipway/protocol/ids";
import { attachDiskParams } from "../api/params.ts";
import { runSteps } from "../flows/run-steps.ts";
import { settleOpenIntents } from "../flows/settle.ts";
import { display } from "../model/names.ts";
import { activeDisk, activeVm, type InstanceRecord } from "../model/records.ts";
import type { InstancePlan } from "../plan/model.ts";
import { findOrphanDisk, giveDisk } from "../store/disks.ts";
import { findInstance } from "../store/instances.ts";
import { DirectorError } from "../tasks/task.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";

const WRONG_STATE = 520003;

/** `bosh attach-disk`: a disk of the orphan list, or one nobody knew, becomes the instance's. The old one is orphaned. */
export const attachDisk = operation(attachDiskParams, async (params, task, shop) => {
  const { deployment, group, instance: id, disk_cid: given, disk_properties: properties } = params;
  const cid = given as DiskCid;
  return await task.withLock(deploymentLock(deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(shop, task, deployment);
    await settleOpenIntents(context);
    const instance = await findInstance(shop.db, deployment, group, id);
    if (instance === undefined)
      throw new DirectorError(70001, `no instance '${group}/${id}'`, { status: 404 });
    refuseUnfit(instance);
    const before = activeDisk(instance);
    const known = before?.cid === cid ? before : await findOrphanDisk(shop.db, cid);
    await task.stage("Attaching disk", [], 1).step(`${cid} to ${display(instance)}`, async () => {
      const plan = planFor(instance);
      const journey = { uuid: instance.uuid, plan, watchMs: [0, 0] as const };
      if (before?.cid !== cid) {
        await runSteps(["unmount_disk", "detach_disk"], journey, context);
        await giveDisk(shop.db, {
          instance: instance.uuid,
          cid,
          cpi: before?.cpi ?? activeVm(instance)?.cpi ?? "",
          // `copy`: what is recorded of the old disk is taken for the new one too.
          properties: known === undefined || properties === "copy" ? (before ?? UNKNOWN) : undefined,
        });
      }
      await runSteps(["attach_disk", "mount_disk"], journey, context);
    });
    return `attached disk '${cid}' to '${group}/${instance.uuid}' in deployment '${deployment}'`;
  });
});

const UNKNOWN = { size: 1, cloudProperties: {} };

function refuseUnfit(instance: InstanceRecord): void {
  if (instance.ignore)
    throw new DirectorError(190020, `${display(instance)} is ignored: run bosh unignore first`);
  if (instance.state === "started")
    throw new DirectorError(
      WRONG_STATE,
      `${display(instance)} is started: a disk can be attached only to a stopped instance. Run bosh stop first.`,
    );
}

const planFor = (instance: InstanceRecord): InstancePlan => ({
  action: "update",
  changes: [{ kind: "persistent_disk", reason: "another disk was attached by hand" }],
  steps: [],
  desired: undefined,
  recorded: instance,
  unresponsive: false,
  skipDrain: false,
  downtime: undefined,
});
