import { openCloud } from "../cloud.ts";
import { findVm } from "../ec2/instances.ts";
import type { AwsMethods } from "./_method.ts";

/** An instance that is stopped is there all the same: reboot_vm starts it. */
export const hasVm: AwsMethods["hasVm"] = async ({ vmCid }, call) =>
  (await findVm(openCloud(call), vmCid)) !== undefined;
