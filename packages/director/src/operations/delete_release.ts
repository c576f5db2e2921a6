import { deleteReleaseParams } from "@slipway/protocol/director/task-params";
import { normalVersion } from "@slipway/protocol/release/release-mf";
import { deleteReleaseVersions } from "../store/delete-release.ts";
import { addEvent, wasDone } from "../store/events.ts";
import { listReleases } from "../store/releases.ts";
import { NoSuchRelease, NoSuchReleaseVersion } from "./errors.ts";
import { operation } from "./operation.ts";
import { sweepReleaseBlobs } from "./releases/blobs.ts";
import { releaseLock } from "./update_release.ts";

const LOCK_MS = 10_000;

/** Deletes one version of a release, or all of it, with what no other version needs. */
export const deleteRelease = operation(deleteReleaseParams, async ({ name, version: given }, task, tools) => {
  task.atEnd(() => sweepReleaseBlobs(tools.db, tools.blobs));
  return await task.withLock(releaseLock(name), LOCK_MS, async () => {
    const version = given === undefined ? undefined : normalVersion(given);
    const what = version === undefined ? name : `${name}/${version}`;
    const deleted = { action: "delete", objectType: "release", objectName: what };
    if (await wasDone(tools.db, task.id, deleted)) return `/release/${name}`;
    const [release] = await listReleases(tools.db, { name });
    if (release === undefined) throw NoSuchRelease({ name });
    if (version !== undefined && !release.versions.some((one) => one.version === version))
      throw NoSuchReleaseVersion({ name, version });
    await task.stage("Deleting release", [], 1).step(what, () =>
      task.write(async (db) => {
        await deleteReleaseVersions(db, name, version);
        await addEvent(db, { ...deleted, user: task.user, taskId: task.id });
      }),
    );
    return `/release/${name}`;
  });
});
