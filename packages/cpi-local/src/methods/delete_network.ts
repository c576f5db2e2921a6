import { openCloud } from "../local-cloud.ts";
import { removeNetwork } from "../networks/managed.ts";
import type { LocalMethods } from "./_method.ts";

export const deleteNetwork: LocalMethods["deleteNetwork"] = async ({ networkCid }, { config }) =>
  removeNetwork(await openCloud(config), networkCid);
