import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { isPlain, openCloud } from "../cloud-context.ts";
import { releaseDisks } from "../disks/attach.ts";
import { removeUnused } from "../networks/networks.ts";
import { findVm, networksOf, removeContainer, removeVolumesOf } from "../vms/containers.ts";
import type { DockerMethods } from "./_method.ts";

/** Ends every process of the container and removes it. Its disks stay, and are free. */
export const deleteVm: DockerMethods["deleteVm"] = async ({ vmCid }, call) => {
  if (!isPlain(vmCid)) throw vmNotFound(vmCid);
  const cloud = await openCloud(call);
  const found = await findVm(cloud, vmCid);
  if (found !== undefined) await removeContainer(cloud, vmCid);
  // A removal outside the CPI may have left them.
  else await removeVolumesOf(cloud, vmCid);
  // Also when it is not there: a crash may have left its disks.
  try {
    await releaseDisks(cloud, vmCid);
  } finally {
    if (found !== undefined) await removeUnused(cloud, networksOf(found));
  }
  if (found === undefined) throw vmNotFound(vmCid);
};
