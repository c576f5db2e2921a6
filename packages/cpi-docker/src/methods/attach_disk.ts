import { openCloud } from "../cloud-context.ts";
import { attachDisk as attach, hintOf } from "../disks/attach.ts";
import type { DockerMethods } from "./_method.ts";

/** The disk appears in the running container as a block device. */
export const attachDisk: DockerMethods["attachDisk"] = async ({ vmCid, diskCid }, call) => {
  await attach(await openCloud(call), vmCid, diskCid);
  return hintOf(diskCid);
};
