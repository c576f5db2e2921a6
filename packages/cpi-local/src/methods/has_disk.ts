import { hasDisk as has } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

export const hasDisk: LocalMethods["hasDisk"] = async ({ diskCid }, { config }) =>
  has(await openCloud(config), diskCid);
