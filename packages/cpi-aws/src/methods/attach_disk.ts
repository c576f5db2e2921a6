import { openCloud } from "../cloud.ts";
import { attachDisk as attach } from "../disks/attach.ts";
import type { AwsMethods } from "./_method.ts";

/** The hint is a path, as upstream's is: the device name, or on Nitro the volume's link in /dev/disk/by-id. */
export const attachDisk: AwsMethods["attachDisk"] = async ({ vmCid, diskCid }, call) =>
  attach(openCloud(call), vmCid, diskCid);
