import { deleteStemcellParams } from "@slipway/protocol/director/task-params";
import { flag, param } from "../call.ts";
import type { Handler } from "../route.ts";
import { startTask } from "../start-task.ts";

export const deleteStemcellsNameVersion: Handler = async (call, services) => {
  const name = param(call, "name");
  const version = param(call, "version");
  return startTask(call, services, deleteStemcellParams, {
    type: "delete_stemcell",
    description: `delete stemcell: ${name}/${version}`,
    params: { name, version, force: flag(call.query, "force") },
  });
};
