import { messageTrail } from "@slipway/kernel/errors";
import { scheduledOrphanedDiskCleanupParams } from "@slipway/protocol/director/task-params";
import { listOrphanDisks } from "../store/disks.ts";
import { OrphansLeft } from "./errors.ts";
import { flowContext, operation } from "./operation.ts";
import { deleteDiskWithSnapshots } from "./snapshots/delete.ts";

const DAY_MS = 86_400_000;

/**
 * Disks whose time in the orphan list is over, and no other: one that was attached meanwhile is not there any more. One
 * that cannot be deleted does not keep it from the others, and is tried again next time.
 */
export const scheduledOrphanedDiskCleanup = operation(
  scheduledOrphanedDiskCleanupParams,
  async ({ max_orphaned_age_in_days: days }, task, tools) => {
    const before = tools.clock.now() - days * DAY_MS;
    const old = await listOrphanDisks(tools.db, before);
    const stage = task.stage("Deleting orphan disks", [], old.length);
    let failed = 0;
    for (const disk of old)
      await stage
        .step(disk.cid, () =>
          deleteDiskWithSnapshots(disk, flowContext(tools, task, disk.deployment), tools.db),
        )
        .catch((error: unknown) => {
          task.signal.throwIfAborted();
          task.debug(messageTrail(error));
          failed += 1;
        });
    const told = { deleted: old.length - failed, before: new Date(before).toISOString(), failed };
    if (failed > 0) throw OrphansLeft(told);
    return `Deleted ${told.deleted} orphaned disk(s) older than ${told.before}. Failed to delete 0 disk(s).`;
  },
);
