import * as v from "valibot";
import { openCloud } from "../cloud.ts";
import { mustFindVm } from "../ec2/instances.ts";
import type { AwsMethods } from "./_method.ts";

/** Starts a VM that is stopped. */
export const rebootVm: AwsMethods["rebootVm"] = async ({ vmCid }, call) => {
  const cloud = openCloud(call);
  const { instanceState } = await mustFindVm(cloud, vmCid);
  const action = instanceState.name === "stopped" ? "StartInstances" : "RebootInstances";
  await cloud.ec2.call(v.unknown(), action, { InstanceId: [vmCid] });
};
