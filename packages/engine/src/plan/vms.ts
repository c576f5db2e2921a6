import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import type { Outfit } from "./desired.ts";
import { sameJson } from "./equal.ts";
import type { DesiredInstance } from "./model.ts";
import { networkDifferences } from "./networks.ts";

/** Whether a VM has the stemcell, env and cloud properties that are wanted, wherever its networks are. */
export const sameBody = (vm: VmRecord, wanted: Outfit | DesiredInstance): boolean =>
  vm.cpi === wanted.cpi &&
  vm.stemcell.name === wanted.stemcell.name &&
  vm.stemcell.version === wanted.stemcell.version &&
  sameJson(vm.env, wanted.env) &&
  sameJson(vm.cloudProperties, wanted.cloudProperties);

/** Whether a VM that was made earlier is just what would be made now. */
export const vmSuits = (vm: VmRecord, wanted: DesiredInstance): boolean =>
  sameBody(vm, wanted) && networkDifferences(vm.networks, wanted.networks).length === 0;

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
