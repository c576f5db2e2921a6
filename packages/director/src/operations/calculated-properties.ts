import type { InstanceRecord, VmRecord } from "@slipway/engine/model/records";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { TaskContext } from "../tasks/task.ts";
import type { OperationContext } from "./operation.ts";

/**
 * The cloud properties of VMs, for people. With `vm_resources` the records have only what was asked for: what the CPI
 * makes of it comes on top, and each CPI is asked once for each size.
 */
export function calculatedProperties(task: TaskContext, tools: OperationContext) {
  const asked = new Map<string, Promise<JsonObject>>();
  const ask = async (cpi: string, resources: JsonObject): Promise<JsonObject> => {
    try {
      return await tools.clouds.cloud(cpi).calculateVmCloudProperties(resources, {
        requestId: newRequestId(tools),
        signal: task.signal,
        log: (text) => task.cpi(text),
      });
    } catch (error) {
      task.signal.throwIfAborted();
      task.debug(`the cloud properties of ${JSON.stringify(resources)} are not known: ${String(error)}`);
      return {};
    }
  };
  return async (instance: InstanceRecord, vm: VmRecord | undefined): Promise<JsonObject> => {
    const resources = instance.spec?.vmResources;
    if (vm === undefined || resources === undefined || resources === null) return vm?.cloudProperties ?? {};
    const key = `${vm.cpi} ${JSON.stringify(resources)}`;
    const found = asked.get(key) ?? ask(vm.cpi, resources);
    asked.set(key, found);
    return { ...vm.cloudProperties, ...(await found) };
  };
}
