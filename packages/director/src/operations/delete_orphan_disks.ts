import { deleteOrphanDisksParams } from "@slipway/protocol/director/task-params";
import { findOrphanDisk } from "../store/disks.ts";
import { flowContext, operation } from "./operation.ts";
import { deleteDiskWithSnapshots } from "./snapshots/delete.ts";

/** A crash in between asks for it once more. */
export const deleteOrphanDisks = operation(
  deleteOrphanDisksParams,
  async ({ disk_cids: cids }, task, tools) => {
    const stage = task.stage("Deleting orphaned disks", [], cids.length);
    for (const given of cids) {
      await stage.step(`Deleting orphaned disk ${given}`, async () => {
        const disk = await findOrphanDisk(tools.db, given);
        if (disk === undefined) return;
        await deleteDiskWithSnapshots(disk, flowContext(tools, task, disk.deployment), tools.db);
      });
    }
    return `orphaned disk(s) ${cids.join(", ")} deleted`;
  },
);
