import { openCloud } from "../local-cloud.ts";
import { startSandbox } from "../sandbox/start.ts";
import { endSandbox } from "../sandbox/stop.ts";
import { mustHaveVm, withVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Starts the sandbox again, with its disks, whether it runs or not. */
export const rebootVm: LocalMethods["rebootVm"] = async ({ vmCid }, { config }) => {
  const cloud = await openCloud(config);
  await withVm(cloud, vmCid, async () => {
    const dir = await mustHaveVm(cloud, vmCid);
    await endSandbox(cloud, dir, vmCid);
    await startSandbox(cloud, dir, vmCid);
  });
};
