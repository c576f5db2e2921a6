import { runOther } from "@slipway/engine/flows/run-steps";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { KnownSnapshot } from "@slipway/engine/steps/delete_snapshot";
import type { OrphanDisk } from "../../store/disks.ts";
import type { Db } from "../../store/schema.ts";
import { snapshotsOfDisk } from "../../store/snapshots.ts";
import type { Stage } from "../../tasks/task.ts";

export async function deleteSnapshots(
  snapshots: readonly KnownSnapshot[],
  stage: Stage,
  context: FlowContext,
): Promise<void> {
  for (const { cid, cpi } of snapshots)
    await stage.step(cid, () => runOther("delete_snapshot", { cid, cpi }, context));
}

/** An orphaned disk, and before it its snapshots: without it nobody would know of them. */
export async function deleteDiskWithSnapshots(disk: OrphanDisk, context: FlowContext, db: Db): Promise<void> {
  for (const { cid, cpi } of await snapshotsOfDisk(db, disk.cid))
    await runOther("delete_snapshot", { cid, cpi }, context);
  await runOther("delete_disk", disk, context);
}
