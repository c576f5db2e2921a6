import { slug } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { LOG_TYPES, logsQuery } from "@slipway/protocol/director/logs";
import { fetchLogsParams } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../../store/instances.ts";
import type { Db } from "../../store/schema.ts";
import { param, queryString } from "../call.ts";
import { deploymentOf, instanceOf } from "../lookup.ts";
import { BadParameter, InstanceWithoutVm, NoSuchGroup } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

const ALL = "*";

/** `bosh logs`: of one instance, of a group, or of all. */
export const getLogs = endpoint({ query: logsQuery }, async (call, services) => {
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const types = listed(queryString(call.query, "type") ?? "job");
  if (!types.every((type) => LOG_TYPES.some((known) => known === type)))
    throw BadParameter({ name: "type", expected: `one or several of ${LOG_TYPES.join(", ")}` });
  const named = await namedBy(services.db, deployment, param(call, "group"), param(call, "index"));
  const instances = named.filter((one) => activeVm(one) !== undefined);
  if (instances.length === 0)
    throw InstanceWithoutVm({ instance: named.length === 1 ? named.map(slug).join("") : deployment });
  return startTask(call, services, fetchLogsParams, {
    type: "fetch_logs",
    description: "fetch logs",
    deployment,
    params: {
      deployment,
      instances: instances.map(({ uuid }) => uuid),
      types: types.join(","),
      filters: listed(queryString(call.query, "filters") ?? ""),
    },
  });
});

const listed = (text: string): string[] => text.split(/[\s,]/).filter((part) => part !== "");

async function namedBy(
  db: Db,
  deployment: string,
  group: string,
  index: string,
): Promise<readonly InstanceRecord[]> {
  if (group !== ALL && index !== ALL) return [await instanceOf(db, deployment, group, index)];
  const found = (await loadInstances(db, deployment)).filter((one) => group === ALL || one.group === group);
  if (found.length === 0 && group !== ALL) throw NoSuchGroup({ deployment, group });
  return found;
}
