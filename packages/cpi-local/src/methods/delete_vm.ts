import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../local-cloud.ts";
import { hasVm, removeVm, withVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Ends every process of the sandbox and removes it. Its disks stay, and are free. */
export const deleteVm: LocalMethods["deleteVm"] = async ({ vmCid }, { config }) => {
  const cloud = await openCloud(config);
  await withVm(cloud, vmCid, async () => {
    const found = await hasVm(cloud, vmCid);
    // Also when it is not there: a crash may have left half of it.
    await removeVm(cloud, vmCid);
    if (!found) throw vmNotFound(vmCid);
  });
};
