import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { causeOf } from "@slipway/engine/flows/errors";
import { runOther } from "@slipway/engine/flows/run-steps";
import { newRequestId } from "@slipway/engine/steps/calls";
import { cloudOf, type FlowContext } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import { claimOrphanDisk, type OrphanDisk, releaseOrphanDisk, removeOrphanDisk } from "../store/disks.ts";
import { DiskBeingDeleted } from "../store/errors.ts";
import { snapshotsOfDisk } from "../store/snapshots.ts";
import type { TaskContext } from "../tasks/task.ts";
import { flowContext, type OperationContext } from "./operation.ts";

/**
 * Deletes an orphaned disk and, before it, its snapshots, which would be unknown without it. The disk is claimed first:
 * `attach-disk` gets it before the claim or not at all. Returns false if the disk is not orphaned any more.
 */
export async function deleteOrphanDisk(
  disk: OrphanDisk,
  task: TaskContext,
  tools: OperationContext,
): Promise<boolean> {
  const claim = await task.write((db) => claimOrphanDisk(db, disk.cid, task.id));
  if (claim === undefined) return false;
  let interrupted = claim.again;
  const context: FlowContext = {
    ...flowContext(tools, task, disk.deployment),
    interrupted: () => {
      interrupted = true;
    },
  };
  const release = () => task.write((db) => releaseOrphanDisk(db, disk.cid, task.id));
  try {
    for (const { cid, cpi } of await snapshotsOfDisk(tools.db, disk.cid))
      await runOther("delete_snapshot", { cid, cpi }, context);
  } catch (error) {
    // The CPI was not asked to delete the disk itself.
    if (!claim.again) await release();
    throw error;
  }
  try {
    await runOther("delete_disk", disk, context);
  } catch (error) {
    const there = causeOf(error) instanceof CpiRefused ? await isThere(disk, context) : undefined;
    // A call before this one may still be under way in the cloud: then the disk may go although it is there now.
    if (there === true && !interrupted) await release();
    if (there !== false) throw error;
    context.debug(`the CPI refused to delete disk ${disk.cid}, and says that it is gone`);
    await task.write((db) => removeOrphanDisk(db, disk.cid));
  }
  return true;
}

/** The same for a list that was read before: a disk that another task deletes is left to that task. */
export async function deleteOrphanDiskIfFree(
  disk: OrphanDisk,
  task: TaskContext,
  tools: OperationContext,
): Promise<boolean> {
  try {
    return await deleteOrphanDisk(disk, task, tools);
  } catch (error) {
    if (!DiskBeingDeleted.is(error)) throw error;
    task.debug(messageTrail(error));
    return false;
  }
}

/** Undefined: the CPI does not say. */
async function isThere({ cid, cpi }: OrphanDisk, context: FlowContext): Promise<boolean | undefined> {
  const { signal, cpiLog: log } = context;
  try {
    return await cloudOf(context, cpi).hasDisk(cid, { requestId: newRequestId(context), signal, log });
  } catch (error) {
    signal.throwIfAborted();
    context.debug(`whether disk ${cid} is still there is not known: ${messageTrail(error)}`);
    return undefined;
  }
}
