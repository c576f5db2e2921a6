import { deleteReleaseParams } from "@slipway/protocol/director/task-params";
import { normalVersion } from "@slipway/protocol/release/release-mf";
import { wasDone } from "../store/events.ts";
import { listReleases } from "../store/releases.ts";
import { NoSuchRelease, NoSuchReleaseVersion } from "./errors.ts";
import { operation, releaseLock } from "./operation.ts";
import { sweepReleaseBlobs } from "./releases/blobs.ts";
import { deleteAndName, deletionEvent } from "./releases/delete.ts";

const LOCK_MS = 10_000;

/** Deletes one version of a release, or all of it, with what no other version needs. */
export const deleteRelease = operation(deleteReleaseParams, async ({ name, version: given }, task, tools) => {
  task.atEnd(() => sweepReleaseBlobs(tools.db, tools.blobs));
  return await task.withLock(releaseLock(name), LOCK_MS, async () => {
    const version = given === undefined ? undefined : normalVersion(given);
    if (await wasDone(tools.db, task.id, deletionEvent(name, version))) return `/release/${name}`;
    const [release] = await listReleases(tools.db, { name });
    if (release === undefined) throw NoSuchRelease({ name });
    if (version !== undefined && !release.versions.some((one) => one.version === version))
      throw NoSuchReleaseVersion({ name, version });
    await deleteAndName(name, version, task);
    return `/release/${name}`;
  });
});
