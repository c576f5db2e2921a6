import { provisionDisk, resizeDisk, withDisk, withoutRoom } from "../disks/disks.ts";
import { readDiskProperties } from "../disks/properties.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

/** Changes the size of a disk, and whether all its space is taken from the start. */
export const updateDisk: LocalMethods["updateDisk"] = async (
  { diskCid, newSize, cloudProperties },
  { config },
) => {
  const cloud = await openCloud(config);
  const { provisioning } = readDiskProperties(cloudProperties);
  await withDisk(cloud, diskCid, async () => {
    if (provisioning !== undefined) await provisionDisk(cloud, diskCid, provisioning);
    await resizeDisk(cloud, diskCid, newSize);
  }).catch((error: unknown) => {
    throw withoutRoom(error) ?? error;
  });
  return diskCid;
};
