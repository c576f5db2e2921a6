import { stemcellDeletionQuery } from "@slipway/protocol/director/stemcell";
import { deleteStemcellParams } from "@slipway/protocol/director/task-params";
import { param, queryFlag } from "../call.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteStemcellsNameVersion = endpoint(
  { query: stemcellDeletionQuery },
  async (call, services) => {
    const name = param(call, "name");
    const version = param(call, "version");
    return startTask(call, services, deleteStemcellParams, {
      type: "delete_stemcell",
      description: `delete stemcell: ${name}/${version}`,
      params: { name, version, force: queryFlag(call.query, "force") },
    });
  },
);
