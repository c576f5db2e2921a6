import { openCloud } from "../cloud.ts";
import { detachDisk as detach } from "../disks/attach.ts";
import type { AwsMethods } from "./_method.ts";

export const detachDisk: AwsMethods["detachDisk"] = async ({ vmCid, diskCid }, call) =>
  detach(openCloud(call), vmCid, diskCid);
