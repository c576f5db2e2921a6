import { openCloud } from "../cloud.ts";
import { describeDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** Written beside the disk, for whoever looks there. */
export const setDiskMetadata: DockerMethods["setDiskMetadata"] = async ({ diskCid, metadata }, call) =>
  describeDisk(await openCloud(call), diskCid, metadata);
