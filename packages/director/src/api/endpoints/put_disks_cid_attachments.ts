import { diskAttachmentQuery } from "@slipway/protocol/director/disk";
import { attachDiskParams } from "@slipway/protocol/director/task-params";
import { param, type QueryOf, queryString } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { BadParameter, ParameterMissing } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

export const putDisksCidAttachments = endpoint({ query: diskAttachmentQuery }, async (call, services) => {
  const cid = param(call, "cid");
  const { name: deployment } = await deploymentOf(services.db, required(call.query, "deployment"));
  const group = required(call.query, "job");
  const asked = required(call.query, "instance_id");
  const { uuid } = await instanceOf(services.db, deployment, group, asked);
  const properties = queryString(call.query, "disk_properties");
  if (properties !== undefined && properties !== "copy") {
    throw BadParameter({ name: "disk_properties", expected: "'copy', if anything" });
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
});

type AttachmentQuery = QueryOf<{ query: typeof diskAttachmentQuery }>;

function required(query: AttachmentQuery, name: keyof AttachmentQuery): string {
  const value = queryString(query, name);
  if (value !== undefined) return value;
  throw ParameterMissing({ where: "query", name });
}
