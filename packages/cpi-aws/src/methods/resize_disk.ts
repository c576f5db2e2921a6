import { openCloud } from "../cloud.ts";
import { changeDisk } from "../disks/change.ts";
import type { AwsMethods } from "./_method.ts";

/** Grows a volume, whether a VM has it or not. */
export const resizeDisk: AwsMethods["resizeDisk"] = async ({ diskCid, newSize }, call) =>
  changeDisk(openCloud(call), diskCid, newSize, undefined);
