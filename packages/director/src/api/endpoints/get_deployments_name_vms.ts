import { transportOf } from "@slipway/engine/agents/address";
import { formatQuery, vm as vmEntry } from "@slipway/protocol/director/instance";
import { listVmsParams } from "@slipway/protocol/director/task-params";
import * as v from "valibot";
import { loadInstances } from "../../store/instances.ts";
import { param, queryString } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";
import { agreedWire, vmWire } from "../vm-wire.ts";

/** Lists one entry per VM, as `instances`. Beside upstream's keys it shows what was agreed for the VM. */
export const getDeploymentsNameVms = endpoint(
  { query: formatQuery, reply: v.array(vmEntry) },
  async (call, services) => {
    const { name } = await deploymentOf(services.db, param(call, "deployment"));
    if (queryString(call.query, "format") === "full") {
      return startTask(call, services, listVmsParams, {
        type: "vms",
        description: "retrieve vm-stats",
        deployment: name,
        params: { deployment: name },
      });
    }
    const instances = await loadInstances(services.db, name);
    const vms = instances.flatMap((instance) => instance.vms.map((vm) => ({ instance, vm })));
    return json(
      vms.map(({ instance, vm }) => ({
        ...vmWire(instance, vm),
        active: vm.active,
        // Its certificate for the first contact is good for nothing any more.
        permanent_nats_credentials: vm.ready && transportOf(vm.agentUrl) === "nats",
        stemcell: {
          name: vm.stemcell.name,
          version: vm.stemcell.version,
          api_version: vm.stemcell.apiVersion,
        },
        slipway: agreedWire(vm),
      })),
    );
  },
);
