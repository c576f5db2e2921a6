import { openCloud } from "../cloud.ts";
import { resizeDisk, withDisk } from "../disks/disks.ts";
import type { LocalMethods } from "./_method.ts";

/** There is only one type of disk, so all that can change is the size. */
export const updateDisk: LocalMethods["updateDisk"] = async ({ diskCid, newSize }, { config }) => {
  const cloud = await openCloud(config);
  await withDisk(cloud, diskCid, () => resizeDisk(cloud, diskCid, newSize));
  return diskCid;
};
