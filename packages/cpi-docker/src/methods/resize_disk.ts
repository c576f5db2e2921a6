import { openCloud } from "../cloud.ts";
import { growDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** Grows a disk that no VM has. */
export const resizeDisk: DockerMethods["resizeDisk"] = async ({ diskCid, newSize }, call) =>
  growDisk(await openCloud(call), diskCid, newSize);
