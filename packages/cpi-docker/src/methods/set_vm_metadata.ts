import { openCloud } from "../cloud-context.ts";
import { mustFindVm } from "../vms/containers.ts";
import { putIntoVm } from "../vms/inside-vm.ts";
import type { DockerMethods } from "./_method.ts";

export const METADATA = "var/lib/slipway/metadata.json";

/** Labels of a container are fixed when it is made, so this goes into a file of it. */
export const setVmMetadata: DockerMethods["setVmMetadata"] = async ({ vmCid, metadata }, call) => {
  const cloud = await openCloud(call);
  const found = await mustFindVm(cloud, vmCid);
  const file = { name: METADATA, content: JSON.stringify(metadata), mode: 0o600 };
  await putIntoVm(cloud, vmCid, found, file, `describing '${vmCid}'`);
};
