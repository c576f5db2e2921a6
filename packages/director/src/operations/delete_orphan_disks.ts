import { deleteOrphanDisksParams } from "@slipway/protocol/director/task-params";
import { findOrphanDisk } from "../store/disks.ts";
import { deleteOrphanDisk } from "./delete-orphan-disk.ts";
import { operation } from "./operation.ts";

/** A crash in between asks for it once more. */
export const deleteOrphanDisks = operation(
  deleteOrphanDisksParams,
  async ({ disk_cids: cids }, task, tools) => {
    const stage = task.stage("Deleting orphaned disks", [], cids.length);
    for (const given of cids) {
      await stage.step(`Deleting orphaned disk ${given}`, async () => {
        const disk = await findOrphanDisk(tools.db, given);
        if (disk !== undefined) await deleteOrphanDisk(disk, task, tools);
      });
    }
    return `orphaned disk(s) ${cids.join(", ")} deleted`;
  },
);
