import { DirectorError } from "@slipway/engine/model/director-error";
import { attachDiskParams } from "@slipway/protocol/director/task-params";
import { type Call, given, param } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import type { Handler } from "../route.ts";
import { startTask } from "../start-task.ts";

export const putDisksCidAttachments: Handler = async (call, services) => {
  const cid = param(call, "cid");
  const { name: deployment } = await deploymentOf(services.db, required(call, "deployment"));
  const group = required(call, "job");
  const asked = required(call, "instance_id");
  const { uuid } = await instanceOf(services.db, deployment, group, asked);
  const properties = given(call.query, "disk_properties");
  if (properties !== undefined && properties !== "copy") {
    throw new DirectorError(40005, "'disk_properties' can only be 'copy'");
  }
  return startTask(call, services, attachDiskParams, {
    type: "attach_disk",
    description: `attach disk '${cid}' to '${group}/${asked}'`,
    deployment,
    params: {
      deployment,
      group,
      instance: uuid,
      disk_cid: cid,
      disk_properties: properties,
    },
  });
};

function required(call: Call, name: string): string {
  const value = given(call.query, name);
  if (value !== undefined) return value;
  throw new DirectorError(40001, `the query lacks '${name}'`);
}
