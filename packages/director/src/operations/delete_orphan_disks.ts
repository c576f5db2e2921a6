import { refusedAs } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/flows/calls";
import { deleteOrphanDisksParams } from "@slipway/protocol/director/task-params";
import { findOrphanDisk, removeOrphanDisk } from "../store/disks.ts";
import { operation } from "./operation.ts";

/** The one place a disk is deleted, and only one of the orphan list. A crash in between asks for it once more. */
export const deleteOrphanDisks = operation(
  deleteOrphanDisksParams,
  async ({ disk_cids: cids }, task, shop) => {
    const stage = task.stage("Deleting orphaned disks", [], cids.length);
    for (const given of cids) {
      await stage.step(given, async () => {
        const disk = await findOrphanDisk(shop.db, given);
        if (disk === undefined) return;
        const event = {
          action: "delete",
          objectType: "disk",
          objectName: disk.cid,
          deployment: disk.deployment,
        };
        try {
          await shop.clouds.cloud(disk.cpi).deleteDisk(disk.cid, {
            requestId: newRequestId(shop),
            signal: task.signal,
            log: (text) => task.cpi(text),
          });
        } catch (error) {
          if (!refusedAs(error, "DiskNotFound")) throw error;
          task.debug(`disk ${disk.cid} was gone already`);
        }
        await removeOrphanDisk(shop.db, disk.cid);
        await task.audit(event);
      });
    }
    return `orphaned disk(s) ${cids.join(", ")} deleted`;
  },
);
