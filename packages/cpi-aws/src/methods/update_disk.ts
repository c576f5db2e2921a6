import { openCloud } from "../cloud.ts";
import { changeDisk } from "../disks/change.ts";
import { readDiskProperties } from "../properties.ts";
import type { AwsMethods } from "./_method.ts";

/** Changes type, IOPS, throughput and size in place. A change of encryption is NotSupported: the Director copies then. */
export const updateDisk: AwsMethods["updateDisk"] = async ({ diskCid, newSize, cloudProperties }, call) => {
  const { properties, unknown } = readDiskProperties(cloudProperties);
  if (unknown.length > 0) call.log.warn(`cloud properties nobody reads: ${unknown.join(", ")}`);
  await changeDisk(openCloud(call), diskCid, newSize, properties);
  return diskCid;
};
