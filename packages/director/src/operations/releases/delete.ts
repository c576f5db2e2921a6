import { deleteReleaseVersions } from "../../store/delete-release.ts";
import { addEvent } from "../../store/events.ts";
import type { TaskContext } from "../../tasks/task.ts";

/** Returns the event of a deletion. */
export const deletionEvent = (name: string, version: string | undefined) => ({
  action: "delete",
  objectType: "release",
  objectName: version === undefined ? name : `${name}/${version}`,
});

/**
 * Deletes a release, or one version of it, and then names in upstream's stages the packages, jobs and versions that are gone.
 * They are deleted in one transaction, so no stage can fail.
 */
export async function deleteAndName(
  name: string,
  version: string | undefined,
  task: TaskContext,
): Promise<void> {
  const { packages, jobs, versions } = await task.write(async (db) => {
    const deleted = await deleteReleaseVersions(db, name, version);
    await addEvent(db, { ...deletionEvent(name, version), user: task.user, taskId: task.id });
    return deleted;
  });
  const stages = [
    { title: "Deleting packages", items: packages },
    { title: "Deleting jobs", items: jobs },
    { title: "Deleting release versions", items: version === undefined ? versions : [] },
  ];
  for (const { title, items } of stages) {
    const stage = task.stage(title, [], items.length);
    for (const item of items) await stage.step(`${item.name}/${item.version}`, () => Promise.resolve());
  }
}
