import { openCloud } from "../cloud.ts";
import { createDisk as create } from "../disks/disks.ts";
import { labelsOf } from "../labels.ts";
import type { DockerMethods } from "./_method.ts";

/** A sparse file in the volume. It is made whole or not at all, so there is nothing to undo. */
export const createDisk: DockerMethods["createDisk"] = async ({ size }, call) => {
  const cid = `disk-${call.token}`;
  return await create(await openCloud(call), cid, size, { size, ...labelsOf("disks", cid, call.request) });
};
