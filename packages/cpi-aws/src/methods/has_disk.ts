import { openCloud } from "../cloud.ts";
import { findVolume } from "../ec2/volumes.ts";
import type { AwsMethods } from "./_method.ts";

export const hasDisk: AwsMethods["hasDisk"] = async ({ diskCid }, call) =>
  (await findVolume(openCloud(call), diskCid)) !== undefined;
