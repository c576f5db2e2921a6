import { runOther } from "@slipway/engine/flows/run-steps";
import { messageTrail } from "@slipway/kernel/errors";
import { deleteArtifactsParams } from "@slipway/protocol/director/task-params";
import {
  type CleanUp,
  findCompiled,
  findDisks,
  findExported,
  findReleases,
  findStemcells,
} from "../artifacts/find-unused.ts";
import { deleteUnusedCompiled } from "../store/compiled-packages.ts";
import { ReleaseVersionInUse, StemcellInUse } from "../store/errors.ts";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import type { TaskContext } from "../tasks/task.ts";
import { deleteOrphanDiskIfFree } from "./delete-orphan-disk.ts";
import { deleteUploadedStemcell } from "./delete-uploaded-stemcell.ts";
import { flowContext, type OperationContext, operation, releaseLock } from "./operation.ts";
import { sweepReleaseBlobs } from "./releases/blobs.ts";
import { deleteAndName } from "./releases/delete.ts";

const LOCK_MS = 10_000;

/**
 * Runs `bosh clean-up`. Each kind is looked for when its turn comes: a run after a crash finds what is left, and what has come
 * into use meanwhile is not found, or left alone.
 */
export const deleteArtifacts = operation(deleteArtifactsParams, async (params, task, tools) => {
  const wanted = { all: params.remove_all, keepDisks: params.keep_orphaned_disks };
  task.atEnd(() => sweepReleaseBlobs(tools.db, tools.blobs));
  const vms = await deleteVms(task, tools);
  const releases = await deleteReleases(wanted, task, tools);
  const stemcells = await deleteStemcells(wanted, task, tools);
  const compiled = await deletePackages(wanted, task, tools);
  const disks = await deleteDisks(wanted, task, tools);
  const exported = await deleteExported(task, tools);
  // Of DNS records only the newest are ever kept.
  await task.stage("Deleting dns blobs", [], 1).step("DNS blobs", () => Promise.resolve());
  return [
    `Deleted ${releases} release(s)`,
    `${stemcells} stemcell(s)`,
    `${compiled} extra compiled package(s)`,
    `${disks} orphaned disk(s)`,
    `${vms} orphaned vm(s)`,
    `${exported} exported release(s)`,
    `Deleted 0 dns blob(s) created before ${timeText(tools.clock.now())}`,
  ].join(", ");
});

/** `2026-11-17 15:11:00 +0000`, as upstream shows a time here. */
const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} +0000`;

/** Deletes orphaned VMs. A VM that cannot be deleted is tried again next time. */
async function deleteVms(task: TaskContext, tools: OperationContext): Promise<number> {
  const all = await listOrphanedVms(tools.db);
  const stage = task.stage("Deleting orphaned vms", [], all.length);
  let deleted = 0;
  for (const vm of all) {
    const context = flowContext(tools, task, vm.deployment);
    try {
      await stage.step(vm.cid, () => runOther("delete_orphaned_vm", vm, context));
      deleted += 1;
    } catch (error) {
      task.signal.throwIfAborted();
      task.debug(messageTrail(error));
    }
  }
  return deleted;
}

async function deleteReleases({ all }: CleanUp, task: TaskContext, tools: OperationContext): Promise<number> {
  const found = await findReleases(tools, all);
  const stage = task.stage("Deleting releases", [], found.flatMap(({ versions }) => versions).length);
  let deleted = 0;
  for (const { name, versions } of found)
    await task.withLock(releaseLock(name), LOCK_MS, async () => {
      for (const version of versions) {
        const gone = await stage.step(`${name}/${version}`, () =>
          unlessUsed(task, () => deleteAndName(name, version, task)),
        );
        if (gone) deleted += 1;
      }
    });
  return deleted;
}

async function deleteStemcells(
  { all }: CleanUp,
  task: TaskContext,
  tools: OperationContext,
): Promise<number> {
  const found = await findStemcells(tools, all);
  const stage = task.stage("Deleting stemcells", [], found.length);
  let deleted = 0;
  for (const stemcell of found) {
    const { name, version, cpi } = stemcell;
    const what = `${name}/${version}${cpi === "" ? "" : ` (cpi: ${cpi})`}`;
    const gone = await stage.step(what, () =>
      task.withLock(`lock:stemcells:${name}:${version}`, LOCK_MS, () =>
        unlessUsed(task, () => deleteUploadedStemcell(stemcell, false, task, tools)),
      ),
    );
    if (gone) deleted += 1;
  }
  return deleted;
}

/** A deploy may have come in between. */
async function unlessUsed(task: TaskContext, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!ReleaseVersionInUse.is(error) && !StemcellInUse.is(error)) throw error;
    task.debug(messageTrail(error));
    return false;
  }
}

async function deletePackages({ all }: CleanUp, task: TaskContext, tools: OperationContext): Promise<number> {
  const found = await findCompiled(tools, all, []);
  const stage = task.stage("Deleting compiled packages", [], found.length);
  let deleted = 0;
  for (const { id, name, stemcellOs, stemcellVersion } of found) {
    const gone = await stage.step(`${name} for ${stemcellOs}/${stemcellVersion}`, () =>
      task.write((db) => deleteUnusedCompiled(db, id)),
    );
    if (gone) deleted += 1;
  }
  return deleted;
}

async function deleteDisks(wanted: CleanUp, task: TaskContext, tools: OperationContext): Promise<number> {
  const found = await findDisks(tools, wanted);
  const stage = task.stage("Deleting orphaned disks", [], found.length);
  let deleted = 0;
  for (const disk of found)
    if (await stage.step(disk.cid, () => deleteOrphanDiskIfFree(disk, task, tools))) deleted += 1;
  return deleted;
}

async function deleteExported(task: TaskContext, tools: OperationContext): Promise<number> {
  const found = await findExported(tools);
  const stage = task.stage("Deleting exported releases", [], found.length);
  for (const id of found) await stage.step(id, () => tools.blobs.remove(id));
  return found.length;
}
