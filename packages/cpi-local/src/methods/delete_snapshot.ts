import { openCloud } from "../local-cloud.ts";
import { removeSnapshot } from "../snapshots/snapshots.ts";
import type { LocalMethods } from "./_method.ts";

export const deleteSnapshot: LocalMethods["deleteSnapshot"] = async ({ snapshotCid }, { config }) =>
  removeSnapshot(await openCloud(config), snapshotCid);
