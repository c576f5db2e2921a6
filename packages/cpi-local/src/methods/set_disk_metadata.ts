import { describeDisk } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

/** Writes the metadata beside the disk, for operators who look there. */
export const setDiskMetadata: LocalMethods["setDiskMetadata"] = async ({ diskCid, metadata }, { config }) =>
  describeDisk(await openCloud(config), diskCid, metadata);
