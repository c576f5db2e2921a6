import { diskDeletionQuery } from "@slipway/protocol/director/disk";
import { deleteOrphanDisksParams, orphanDiskParams } from "@slipway/protocol/director/task-params";
import { diskHolder } from "../../store/disks.ts";
import { param, queryFlag } from "../call.ts";
import { DiskInUse } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** Deletes a disk. With `orphan=true` it leaves its instance for the orphan list; without, only an orphaned one is deleted. */
export const deleteDisksCid = endpoint({ query: diskDeletionQuery }, async (call, services) => {
  const cid = param(call, "cid");
  if (queryFlag(call.query, "orphan")) {
    return startTask(call, services, orphanDiskParams, {
      type: "orphan_disk",
      description: "orphan disk",
      params: { disk_cid: cid },
    });
  }
  const holder = await diskHolder(services.db, cid);
  if (holder !== undefined) {
    throw DiskInUse({ cid, instance: holder.instance, deployment: holder.deployment });
  }
  return startTask(call, services, deleteOrphanDisksParams, {
    type: "delete_orphan_disks",
    description: "delete orphan disks",
    params: { disk_cids: [cid] },
  });
});
