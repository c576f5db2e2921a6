import { releaseUploadQuery } from "@slipway/protocol/director/release";
import { updateReleaseParams } from "@slipway/protocol/director/task-params";
import { queryFlag } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";
import { receiveUpload } from "../uploads.ts";

/** The archive itself is the body, of any size. */
export const postReleasesArchive = endpoint({ query: releaseUploadQuery }, (call, services) =>
  receiveUpload(call.stream, services, "release", (path) =>
    startTask(call, services, updateReleaseParams, {
      type: "update_release",
      description: "create release",
      params: { path, fix: queryFlag(call.query, "fix"), rebase: queryFlag(call.query, "rebase") },
    }),
  ),
);
