import { detachDisk as detach } from "../disks/attach.ts";
import { withDisk } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import { mustHaveVm, withVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Refused while something in the sandbox still has it mounted. */
export const detachDisk: LocalMethods["detachDisk"] = async ({ vmCid, diskCid }, { config }) => {
  const cloud = await openCloud(config);
  await withVm(cloud, vmCid, async () => {
    await mustHaveVm(cloud, vmCid);
    await withDisk(cloud, diskCid, () => detach(cloud, vmCid, diskCid));
  });
};
