import { openCloud } from "../cloud-context.ts";
import { removeDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** Refused while a VM has it. */
export const deleteDisk: DockerMethods["deleteDisk"] = async ({ diskCid }, call) =>
  removeDisk(await openCloud(call), diskCid);
