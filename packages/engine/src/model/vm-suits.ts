import { sameBeforePins, sameJson } from "./equal.ts";
import type { DesiredInstance } from "./goal.ts";
import { networkDifferences } from "./network-differences.ts";
import type { VmRecord } from "./records.ts";

type WantedVm = Pick<DesiredInstance, "cpi" | "stemcell" | "env" | "cloudProperties">;

/** Whether a VM has the stemcell, env and cloud properties that are wanted, wherever its networks are. */
export const sameBody = (vm: VmRecord, wanted: WantedVm): boolean =>
  vm.cpi === wanted.cpi &&
  vm.stemcell.name === wanted.stemcell.name &&
  vm.stemcell.version === wanted.stemcell.version &&
  sameBeforePins(vm.env, wanted.env) &&
  sameJson(vm.cloudProperties, wanted.cloudProperties);

/** Whether a VM that was made earlier is just what would be made now. */
export const vmSuits = (vm: VmRecord, wanted: DesiredInstance): boolean =>
  sameBody(vm, wanted) && networkDifferences(vm.networks, wanted.networks).length === 0;
