import { refusedAs } from "@slipway/engine/clouds/cloud";
import type { CpiName } from "@slipway/engine/model/names";
import type { FoundProblem } from "@slipway/engine/model/problems";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { ListedResources } from "@slipway/protocol/cpi/methods/list_resources";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { recordedCids } from "../../store/recorded.ts";
import type { Db } from "../../store/schema.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { byPlace } from "./scan.ts";

/** Lists what a CPI has of this Director; undefined if it cannot say. */
export async function listed(cpi: CpiName, context: FlowContext): Promise<ListedResources | undefined> {
  const { signal, cpiLog } = context;
  try {
    return await context.clouds
      .cloud(cpi)
      .listResources({ requestId: newRequestId(context), signal, log: cpiLog });
  } catch (error) {
    if (refusedAs(error, "NotImplemented", "NotSupported")) return undefined;
    throw error;
  }
}

/** VMs and disks of the deployment, by their own description, that no record names: made after a backup, or forgotten. */
export async function scanUnrecorded(
  instances: readonly InstanceRecord[],
  task: TaskContext,
  db: Db,
  context: FlowContext,
): Promise<readonly FoundProblem[]> {
  const problems: FoundProblem[] = [];
  for (const cpi of context.clouds.names) {
    const found = await listed(cpi, context);
    if (found === undefined) {
      task.debug(`the CPI '${cpi}' cannot list what it has: what no record names is not found there`);
      continue;
    }
    // After the list: what others make meanwhile is in neither, or in both.
    const known = await recordedCids(db);
    const its = (metadata: JsonObject, cid: string) =>
      metadata.director === context.settings.directorName &&
      metadata.deployment === context.deployment &&
      !known.has(cid);
    for (const vm of found.vms.filter((one) => its(one.metadata, one.cid))) {
      const instance = instances.find(({ uuid }) => uuid === vm.metadata.id);
      if (instance === undefined) task.warn(nobodys("VM", vm.cid, vm.metadata.name));
      else {
        const agent = vm.agent_id !== undefined && { agent: vm.agent_id };
        problems.push({ ...about(instance), type: "unrecorded_vm", vm: vm.cid, cpi, ...agent });
      }
    }
    for (const disk of found.disks.filter((one) => its(one.metadata, one.cid))) {
      const instance = instances.find(({ uuid }) => uuid === disk.metadata.instance_id);
      const mountedOn = found.vms.filter((vm) => vm.disk_cids.includes(disk.cid)).map(({ cid }) => cid);
      const size = disk.size ?? null;
      if (instance === undefined) task.warn(nobodys("disk", disk.cid, disk.metadata.instance_id));
      else
        problems.push({ ...about(instance), type: "unrecorded_disk", disk: disk.cid, size, mountedOn, cpi });
    }
  }
  return problems
    .filter(({ instance }) => !instances.some((one) => one.uuid === instance && one.ignore))
    .sort(byPlace);
}

/** Reports whether a deploy might do harm before an operator has decided: a second VM, or an older disk in place of this one. */
export const blocksDeploy = ({ type, mountedOn }: FoundProblem): boolean =>
  type === "unrecorded_vm" || (type === "unrecorded_disk" && mountedOn.length > 0);

const nobodys = (what: string, cid: string, name: unknown): string =>
  `The cloud has the ${what} '${cid}', described as of ${String(name)} in this deployment. No record has that instance: nothing is done about it.`;

const about = ({ uuid, group, index }: InstanceRecord) => ({
  instance: uuid,
  group,
  index,
  vm: null,
  disk: null,
  size: null,
  mountedOn: [],
});
