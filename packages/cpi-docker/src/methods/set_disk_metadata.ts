import { openCloud } from "../cloud-context.ts";
import { describeDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** Writes the metadata beside the disk, for operators who look there. */
export const setDiskMetadata: DockerMethods["setDiskMetadata"] = async ({ diskCid, metadata }, call) =>
  describeDisk(await openCloud(call), diskCid, metadata);
