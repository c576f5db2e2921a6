import { openCloud } from "../cloud-context.ts";
import { removeNetwork } from "../networks/networks.ts";
import type { DockerMethods } from "./_method.ts";

export const deleteNetwork: DockerMethods["deleteNetwork"] = async ({ networkCid }, call) =>
  removeNetwork(await openCloud(call), networkCid);
