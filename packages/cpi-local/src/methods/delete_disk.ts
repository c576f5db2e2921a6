import { removeDisk, withDisk } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

/** Refused while a sandbox has it. */
export const deleteDisk: LocalMethods["deleteDisk"] = async ({ diskCid }, { config }) => {
  const cloud = await openCloud(config);
  await withDisk(cloud, diskCid, () => removeDisk(cloud, diskCid));
};
