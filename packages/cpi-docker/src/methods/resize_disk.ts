import { openCloud } from "../cloud-context.ts";
import { growDisk } from "../disks/disks.ts";
import type { DockerMethods } from "./_method.ts";

/** Grows a disk, whether a VM has it or not. */
export const resizeDisk: DockerMethods["resizeDisk"] = async ({ diskCid, newSize }, call) => {
  const later = await growDisk(await openCloud(call), diskCid, newSize);
  if (later !== undefined)
    call.log.warn(
      `disk '${diskCid}' has ${newSize} MiB now; its file system grows when it is mounted the next time (${later})`,
    );
};
