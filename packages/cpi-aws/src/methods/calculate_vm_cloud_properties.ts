import { cloudError } from "@slipway/cpi-sdk/errors";
import { smallestType } from "../vms/sizes.ts";
import type { AwsMethods } from "./_method.ts";

/** The smallest type of the current general families that has as much. It asks AWS nothing. */
export const calculateVmCloudProperties: AwsMethods["calculateVmCloudProperties"] = ({ desired }) => {
  const { cpu, ram, ephemeral_disk_size } = desired;
  const type = smallestType(cpu, ram);
  if (type === undefined)
    throw cloudError(
      `no instance type of the families m5, c5 and r5 has ${cpu} processors and ${ram} MiB; use a VM type with instance_type`,
    );
  return { instance_type: type, ephemeral_disk: { size: ephemeral_disk_size } };
};
