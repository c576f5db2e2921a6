import { openCloud } from "../cloud-context.ts";
import { removeSnapshot } from "../disks/snapshots.ts";
import type { DockerMethods } from "./_method.ts";

export const deleteSnapshot: DockerMethods["deleteSnapshot"] = async ({ snapshotCid }, call) =>
  removeSnapshot(await openCloud(call), snapshotCid);
