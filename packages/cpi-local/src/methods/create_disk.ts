import { createDisk as create, undoDisk, withDisk, withoutRoom } from "../disks/disks.ts";
import { readDiskProperties } from "../disks/properties.ts";
import { openCloud } from "../local-cloud.ts";
import type { LocalMethods } from "./_method.ts";

/** A directory, or a file system in a file that is as large as the disk. */
export const createDisk: LocalMethods["createDisk"] = async (
  { size, cloudProperties },
  { config, token, cleanup },
) => {
  const cloud = await openCloud(config);
  const { provisioning = cloud.provisioning } = readDiskProperties(cloudProperties);
  const cid = `disk-${token}`;
  cleanup(() => undoDisk(cloud, cid));
  return await withDisk(cloud, cid, () => create(cloud, cid, size, provisioning)).catch((error: unknown) => {
    throw withoutRoom(error) ?? error;
  });
};
