import { openCloud, unstoppable } from "../cloud-context.ts";
import { createSnapshot, removeSnapshot } from "../disks/snapshots.ts";
import type { DockerMethods } from "./_method.ts";

/** A copy of the disk at one moment, whether it is mounted or not. */
export const snapshotDisk: DockerMethods["snapshotDisk"] = async ({ diskCid, metadata }, call) => {
  const cloud = await openCloud(call);
  const cid = `snapshot-${call.token}`;
  call.cleanup(() => removeSnapshot(unstoppable(cloud), cid));
  return await createSnapshot(cloud, cid, diskCid, { disk: diskCid, ...metadata });
};
