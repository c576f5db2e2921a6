import { readDigest } from "@slipway/engine/stemcells/digest";
import { releaseAddress, releaseUploadQuery } from "@slipway/protocol/director/release";
import { updateReleaseParams } from "@slipway/protocol/director/task-params";
import { queryFlag } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** A release at an address. */
export const postReleases = endpoint(
  { query: releaseUploadQuery, body: releaseAddress },
  async (call, services) => {
    const { location, sha1 } = await call.json();
    if (sha1) readDigest(sha1, "release");
    return startTask(call, services, updateReleaseParams, {
      type: "update_release",
      description: "create release",
      params: {
        location,
        sha1: sha1 || undefined,
        fix: queryFlag(call.query, "fix"),
        rebase: queryFlag(call.query, "rebase"),
      },
    });
  },
);
