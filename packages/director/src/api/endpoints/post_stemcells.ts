import { stemcellAddress, stemcellUploadQuery } from "@slipway/protocol/director/stemcell";
import { updateStemcellParams } from "@slipway/protocol/director/task-params";
import { queryFlag } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** A stemcell at an address. */
export const postStemcells = endpoint(
  { query: stemcellUploadQuery, body: stemcellAddress },
  async (call, services) => {
    const { location, sha1 } = await call.json();
    return startTask(call, services, updateStemcellParams, {
      type: "update_stemcell",
      description: "create stemcell",
      params: { location, sha1: sha1 || undefined, fix: queryFlag(call.query, "fix") },
    });
  },
);
