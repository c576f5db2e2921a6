import { openCloud } from "../cloud.ts";
import { deleteSnapshot as remove } from "../disks/snapshots.ts";
import type { AwsMethods } from "./_method.ts";

export const deleteSnapshot: AwsMethods["deleteSnapshot"] = async ({ snapshotCid }, call) =>
  remove(openCloud(call), snapshotCid);
