import { vmNotFound } from "@slipway/cpi-sdk/errors";
import { openCloud } from "../cloud.ts";
import { describeInstance } from "../ec2/instances.ts";
import { endInterfacesWith } from "../vms/routing.ts";
import { terminate } from "../vms/terminate.ts";
import type { AwsMethods } from "./_method.ts";

/** Ends the instance and waits, since its address is taken until then. Persistent disks stay, and are free. */
export const deleteVm: AwsMethods["deleteVm"] = async ({ vmCid }, call) => {
  const cloud = openCloud(call);
  const found = await describeInstance(cloud, vmCid);
  if (found === undefined || found.instanceState.name === "terminated") throw vmNotFound(vmCid);
  await endInterfacesWith(cloud, found);
  await terminate(cloud, vmCid);
};
