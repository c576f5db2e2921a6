import { withoutRoom } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import { createSnapshot, removeSnapshot } from "../snapshots/snapshots.ts";
import type { LocalMethods } from "./_method.ts";

/** A copy. That of a thin disk shares its blocks with it where the host's file system can do that. */
export const snapshotDisk: LocalMethods["snapshotDisk"] = async (
  { diskCid, metadata },
  { config, token, cleanup },
) => {
  const cloud = await openCloud(config);
  const cid = `snapshot-${token}`;
  cleanup(() => removeSnapshot(cloud, cid));
  return await createSnapshot(cloud, cid, diskCid, metadata).catch((error: unknown) => {
    throw withoutRoom(error) ?? error;
  });
};
