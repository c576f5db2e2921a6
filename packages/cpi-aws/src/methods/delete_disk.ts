import { openCloud } from "../cloud.ts";
import { deleteDisk as remove } from "../disks/create.ts";
import type { AwsMethods } from "./_method.ts";

/** Refused while a VM has it. */
export const deleteDisk: AwsMethods["deleteDisk"] = async ({ diskCid }, call) =>
  remove(openCloud(call), diskCid);
