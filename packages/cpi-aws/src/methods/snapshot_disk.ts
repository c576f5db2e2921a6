import { openCloud } from "../cloud.ts";
import { snapshotDisk as snapshot } from "../disks/snapshots.ts";
import type { AwsMethods } from "./_method.ts";

export const snapshotDisk: AwsMethods["snapshotDisk"] = async ({ diskCid, metadata }, call) =>
  snapshot(openCloud(call), diskCid, metadata, call.token);
