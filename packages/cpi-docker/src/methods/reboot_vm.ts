import { openCloud } from "../cloud.ts";
import { mustFindVm, restartContainer } from "../vms/containers.ts";
import { switchOn } from "../vms/power.ts";
import type { DockerMethods } from "./_method.ts";

const SECONDS_TO_END = 10;

/** Starts the container anew, with its disks, whether it runs or not. */
export const rebootVm: DockerMethods["rebootVm"] = async ({ vmCid }, call) => {
  const cloud = await openCloud(call);
  await mustFindVm(cloud, vmCid);
  await switchOn(cloud, vmCid);
  await restartContainer(cloud, vmCid, SECONDS_TO_END);
};
