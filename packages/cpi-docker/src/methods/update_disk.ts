import { openCloud } from "../cloud.ts";
import { growDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** There is only one type of disk, so all that can change is the size. */
export const updateDisk: DockerMethods["updateDisk"] = async ({ diskCid, newSize }, call) => {
  await growDisk(await openCloud(call), diskCid, newSize);
  return diskCid;
};
