import { resizeDisk as resize, withDisk, withoutRoom } from "../disks/disks.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

/** Grows a disk that no sandbox has, with its file system. */
export const resizeDisk: LocalMethods["resizeDisk"] = async ({ diskCid, newSize }, { config }) => {
  const cloud = await openCloud(config);
  await withDisk(cloud, diskCid, () => resize(cloud, diskCid, newSize)).catch((error: unknown) => {
    throw withoutRoom(error) ?? error;
  });
};
