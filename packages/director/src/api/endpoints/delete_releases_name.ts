import { releaseDeletionQuery } from "@slipway/protocol/director/release";
import { deleteReleaseParams } from "@slipway/protocol/director/task-params";
import { listReleases } from "../../store/releases.ts";
import { param, queryFlag, queryString } from "../call.ts";
import { NoSuchRelease } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteReleasesName = endpoint({ query: releaseDeletionQuery }, async (call, services) => {
  const name = param(call, "name");
  const version = queryString(call.query, "version");
  if ((await listReleases(services.db, { name })).length === 0) throw NoSuchRelease({ name });
  return startTask(call, services, deleteReleaseParams, {
    type: "delete_release",
    description: `delete release: ${version === undefined ? name : `${name}/${version}`}`,
    params: { name, version, force: queryFlag(call.query, "force") },
  });
});
