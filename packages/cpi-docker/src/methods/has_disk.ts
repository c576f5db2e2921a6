import { openCloud } from "../cloud-context.ts";
import { hasDisk as has } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

export const hasDisk: DockerMethods["hasDisk"] = async ({ diskCid }, call) =>
  has(await openCloud(call), diskCid);
