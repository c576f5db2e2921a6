import { openCloud } from "../cloud-context.ts";
import { createDisk as create } from "../disks/disks.ts";
import { readDiskProperties } from "../disks/properties.ts";
import { labelsOf } from "../labels.ts";
import type { DockerMethods } from "./_method.ts";

/** A file in the volume, or a device of the pool. It is made whole or not at all, so there is nothing to undo. */
export const createDisk: DockerMethods["createDisk"] = async ({ size, cloudProperties }, call) => {
  const cid = `disk-${call.token}`;
  const {
    type = "file",
    provisioning = call.config.provisioning,
    unknown,
  } = readDiskProperties(cloudProperties);
  if (unknown.length > 0) call.log.warn(`cloud properties nobody reads: ${unknown.join(", ")}`);
  const record = { size, type, ...labelsOf("disks", cid, call.request) };
  return await create(await openCloud(call), { cid, sizeMib: size, type, provisioning, record });
};
