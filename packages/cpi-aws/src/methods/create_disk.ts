import { openCloud, unstoppable } from "../cloud.ts";
import { createDisk as create, removeDiskOf } from "../disks/create.ts";
import { readDiskProperties } from "../properties.ts";
import type { AwsMethods } from "./_method.ts";

export const createDisk: AwsMethods["createDisk"] = async ({ size, cloudProperties, vmCid }, call) => {
  const { properties, unknown } = readDiskProperties(cloudProperties);
  if (unknown.length > 0) call.log.warn(`cloud properties nobody reads: ${unknown.join(", ")}`);
  const cloud = openCloud(call);
  call.cleanup(() => removeDiskOf(unstoppable(cloud), call.token));
  return await create(cloud, { token: call.token, sizeMib: size, properties, vmCid: vmCid ?? undefined });
};
