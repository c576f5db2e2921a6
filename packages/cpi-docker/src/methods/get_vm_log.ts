import { vmLog } from "@slipway/cpi-sdk/vm-log";
import { openCloud } from "../cloud-context.ts";
import { fileIn } from "../engine/archive.ts";
import { PLACES } from "../image-files.ts";
import { mustFindVm } from "../vms/containers.ts";
import { logOf } from "../vms/log.ts";
import type { DockerMethods } from "./_method.ts";

export const getVmLog: DockerMethods["getVmLog"] = async ({ vmCid }, call) => {
  const cloud = await openCloud(call);
  const found = await mustFindVm(cloud, vmCid);
  const settings = await fileIn(
    cloud.engine,
    vmCid,
    `/${PLACES.settings}`,
    `reading the settings of '${vmCid}'`,
  );
  return vmLog(await logOf(cloud, vmCid, found), settings ?? "", { off: !found.State.Running });
};
