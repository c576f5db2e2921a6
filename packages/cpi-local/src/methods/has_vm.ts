import { openCloud } from "../local-cloud.ts";
import { hasVm as has } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** A sandbox that is stopped, as after a reboot of the host, is there all the same: reboot_vm starts it. */
export const hasVm: LocalMethods["hasVm"] = async ({ vmCid }, { config }) =>
  has(await openCloud(config), vmCid);
