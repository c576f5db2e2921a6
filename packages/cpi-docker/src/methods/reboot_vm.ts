import { openCloud } from "../cloud-context.ts";
import { mustFindVm, restartContainer } from "../vms/containers.ts";
import { hasUpstreamAgent } from "../vms/inside-vm.ts";
import { switchOn } from "../vms/power.ts";
import type { DockerMethods } from "./_method.ts";

const SECONDS_TO_END = 10;

/** Starts the container again, with its disks, whether it runs or not. */
export const rebootVm: DockerMethods["rebootVm"] = async ({ vmCid }, call) => {
  const cloud = await openCloud(call);
  const found = await mustFindVm(cloud, vmCid);
  // Upstream's stemcells know of no such switch.
  if (!hasUpstreamAgent(found)) await switchOn(cloud, vmCid);
  await restartContainer(cloud, vmCid, SECONDS_TO_END);
};
