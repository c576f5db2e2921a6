import type { DesiredInstance } from "../model/goal.ts";
import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";

/** A VM that an interrupted run has made for this, and that serves as well as a new one. */
export const spareVm = (
  recorded: InstanceRecord | undefined,
  wanted: DesiredInstance,
): VmRecord | undefined => recorded?.vms.filter((vm) => !vm.active && vmSuits(vm, wanted)).at(-1);

/** Addresses the instance holds that neither its plan nor any of its VMs uses. */
export function idleAddresses(
  recorded: InstanceRecord | undefined,
  wanted: DesiredInstance,
): readonly string[] {
  const needed = new Set(wanted.ips.map(({ address }) => address));
  const held = (recorded?.ips ?? []).filter(({ address }) => !needed.has(address));
  if (recorded === undefined || held.length === 0) return [];
  const used = new Set(Object.values(activeVm(recorded)?.networks ?? {}).map(({ ip }) => ip));
  return held.flatMap(({ address }) => (used.has(address) ? [] : [address]));
}
