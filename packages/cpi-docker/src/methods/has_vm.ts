import { openCloud } from "../cloud-context.ts";
import { findVm } from "../vms/containers.ts";
import type { DockerMethods } from "./_method.ts";

/** A container that is stopped is there all the same: reboot_vm starts it. */
export const hasVm: DockerMethods["hasVm"] = async ({ vmCid }, call) =>
  (await findVm(await openCloud(call), vmCid)) !== undefined;
