import { sameBeforePins, sameJson } from "./equal.ts";
import type { DesiredInstance } from "./goal.ts";
import { networkDifferences } from "./network-differences.ts";
import type { VmRecord } from "./records.ts";

type WantedVm = Pick<DesiredInstance, "cpi" | "stemcell" | "env" | "cloudProperties">;

/** Returns true if a VM has the wanted stemcell, env and cloud properties, whatever its networks. */
export const sameBody = (vm: VmRecord, wanted: WantedVm): boolean =>
  vm.cpi === wanted.cpi &&
  vm.stemcell.name === wanted.stemcell.name &&
  vm.stemcell.version === wanted.stemcell.version &&
  sameBeforePins(vm.env, wanted.env) &&
  sameJson(vm.cloudProperties, wanted.cloudProperties);

/** Returns true if an existing VM equals the one that would be made now. */
export const vmSuits = (vm: VmRecord, wanted: DesiredInstance): boolean =>
  sameBody(vm, wanted) && networkDifferences(vm.networks, wanted.networks).length === 0;
