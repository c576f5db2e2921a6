import { runOther } from "@slipway/engine/flows/run-steps";
import { deleteOrphanDisksParams } from "@slipway/protocol/director/task-params";
import { findOrphanDisk } from "../store/disks.ts";
import { flowContext, operation } from "./operation.ts";

/** The one place a disk is deleted, and only one of the orphan list. A crash in between asks for it once more. */
export const deleteOrphanDisks = operation(
  deleteOrphanDisksParams,
  async ({ disk_cids: cids }, task, tools) => {
    const stage = task.stage("Deleting orphaned disks", [], cids.length);
    for (const given of cids) {
      await stage.step(given, async () => {
        const disk = await findOrphanDisk(tools.db, given);
        if (disk !== undefined)
          await runOther("delete_disk", disk, flowContext(tools, task, disk.deployment));
      });
    }
    return `orphaned disk(s) ${cids.join(", ")} deleted`;
  },
);
