import { openCloud } from "../cloud.ts";
import { putFiles } from "../engine/archive.ts";
import { mustFindVm } from "../vms/containers.ts";
import type { DockerMethods } from "./_method.ts";

const METADATA = "var/lib/slipway/metadata.json";

/** Labels of a container are fixed when it is made, so this goes into a file of it. */
export const setVmMetadata: DockerMethods["setVmMetadata"] = async ({ vmCid, metadata }, call) => {
  const cloud = await openCloud(call);
  await mustFindVm(cloud, vmCid);
  const file = { name: METADATA, content: JSON.stringify(metadata), mode: 0o600 };
  await putFiles(cloud.engine, vmCid, [file], `describing '${vmCid}'`);
};
