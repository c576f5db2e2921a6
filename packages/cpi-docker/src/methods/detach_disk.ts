import { openCloud } from "../cloud-context.ts";
import { detachDisk as detach } from "../disks/attach.ts";
import type { DockerMethods } from "./_method.ts";

/** Refused while something in the container still has it mounted. */
export const detachDisk: DockerMethods["detachDisk"] = async ({ vmCid, diskCid }, call) =>
  detach(await openCloud(call), vmCid, diskCid);
