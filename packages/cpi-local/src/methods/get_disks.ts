import { openCloud } from "../local-cloud.ts";
import { disksOf } from "../vms/attachments.ts";
import { mustHaveVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

export const getDisks: LocalMethods["getDisks"] = async ({ vmCid }, { config }) => {
  const cloud = await openCloud(config);
  await mustHaveVm(cloud, vmCid);
  return await disksOf(cloud, vmCid);
};
