import { openCloud } from "../cloud-context.ts";
import { disksOf } from "../disks/attach.ts";
import { mustFindVm } from "../vms/containers.ts";
import type { DockerMethods } from "./_method.ts";

export const getDisks: DockerMethods["getDisks"] = async ({ vmCid }, call) => {
  const cloud = await openCloud(call);
  await mustFindVm(cloud, vmCid);
  return await disksOf(cloud, vmCid);
};
