import { openCloud } from "../cloud.ts";
import { describeDisk } from "../disks/disks.ts";
import type { LocalMethods } from "./_method.ts";

/** Written beside the disk, for whoever looks there. */
export const setDiskMetadata: LocalMethods["setDiskMetadata"] = async ({ diskCid, metadata }, { config }) =>
  describeDisk(await openCloud(config), diskCid, metadata);
