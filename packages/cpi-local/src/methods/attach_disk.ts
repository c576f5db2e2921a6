import { attachDisk as attach, hintOf } from "../disks/attach.ts";
import { withDisk } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import { mustHaveVm, withVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** The disk appears in the running sandbox, and in no other; the hint is the path there. */
export const attachDisk: LocalMethods["attachDisk"] = async ({ vmCid, diskCid }, { config }) => {
  const cloud = await openCloud(config);
  await withVm(cloud, vmCid, async () => {
    await mustHaveVm(cloud, vmCid);
    await withDisk(cloud, diskCid, () => attach(cloud, vmCid, diskCid));
  });
  return hintOf(diskCid);
};
