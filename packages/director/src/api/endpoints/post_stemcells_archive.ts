import { stemcellUploadQuery } from "@slipway/protocol/director/stemcell";
import { updateStemcellParams } from "@slipway/protocol/director/task-params";
import { queryFlag } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";
import { receiveUpload } from "../uploads.ts";

/** The archive itself is the body, of any size. */
export const postStemcellsArchive = endpoint({ query: stemcellUploadQuery }, (call, services) =>
  receiveUpload(call.stream, services, "stemcell", (path) =>
    startTask(call, services, updateStemcellParams, {
      type: "update_stemcell",
      description: "create stemcell",
      params: { path, fix: queryFlag(call.query, "fix") },
    }),
  ),
);
