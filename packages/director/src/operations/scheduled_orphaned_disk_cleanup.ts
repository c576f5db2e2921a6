import { messageTrail } from "@slipway/kernel/errors";
import { scheduledOrphanedDiskCleanupParams } from "@slipway/protocol/director/task-params";
import { listOrphanDisks } from "../store/disks.ts";
import { deleteOrphanDiskIfFree } from "./delete-orphan-disk.ts";
import { OrphansLeft } from "./errors.ts";
import { operation } from "./operation.ts";

const DAY_MS = 86_400_000;

/**
 * Deletes the disks whose time in the orphan list is over, and those whose deletion was begun and not completed. A disk that
 * was attached meanwhile is not there any more. One that cannot be deleted is tried again next time.
 */
export const scheduledOrphanedDiskCleanup = operation(
  scheduledOrphanedDiskCleanupParams,
  async ({ max_orphaned_age_in_days: days }, task, tools) => {
    const before = tools.clock.now() - days * DAY_MS;
    const old = await listOrphanDisks(tools.db, before);
    const stage = task.stage("Deleting orphan disks", [], old.length);
    let deleted = 0;
    let failed = 0;
    for (const disk of old)
      try {
        if (await stage.step(disk.cid, () => deleteOrphanDiskIfFree(disk, task, tools))) deleted += 1;
      } catch (error) {
        task.signal.throwIfAborted();
        task.debug(messageTrail(error));
        failed += 1;
      }
    const told = { deleted, before: new Date(before).toISOString(), failed };
    if (failed > 0) throw OrphansLeft(told);
    return `Deleted ${told.deleted} orphaned disk(s) older than ${told.before}. Failed to delete 0 disk(s).`;
  },
);
