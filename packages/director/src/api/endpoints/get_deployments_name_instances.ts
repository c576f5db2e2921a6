import { activeVm, expectsVm } from "@slipway/engine/model/records";
import { formatQuery, instance as instanceWire } from "@slipway/protocol/director/instance";
import { listVmsParams } from "@slipway/protocol/director/task-params";
import * as v from "valibot";
import { loadInstances } from "../../store/instances.ts";
import { param, queryString } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";
import { agreedWire, vmWire } from "../vm-wire.ts";

/** Lists instances. With `format=full` a task asks the agents; otherwise the store answers. */
export const getDeploymentsNameInstances = endpoint(
  { query: formatQuery, reply: v.array(instanceWire) },
  async (call, services) => {
    const { name } = await deploymentOf(services.db, param(call, "deployment"));
    if (queryString(call.query, "format") === "full") {
      return startTask(call, services, listVmsParams, {
        type: "instances",
        description: "retrieve vm-stats",
        deployment: name,
        params: { deployment: name },
      });
    }
    const instances = await loadInstances(services.db, name);
    return json(
      instances.map((instance) => {
        const vm = activeVm(instance);
        return {
          ...vmWire(instance, vm),
          expects_vm: expectsVm(instance),
          ...(instance.errand && { errand: true }),
          ...(vm !== undefined && { slipway: agreedWire(vm) }),
        };
      }),
    );
  },
);
