import type { InstanceRecord, VmRecord } from "../model/records.ts";
import { rfc3339 } from "./times.ts";

/** What both lists without `format=full` say of an instance and its VM. */
export const vmWire = (instance: InstanceRecord, vm: VmRecord | undefined) => ({
  agent_id: vm?.agentId ?? null,
  cid: vm?.cid ?? null,
  job: instance.group,
  index: instance.index,
  id: instance.uuid,
  az: instance.az,
  ips: instance.ips.map(({ address }) => address),
  vm_created_at: vm === undefined ? null : rfc3339(vm.createdAt),
});
