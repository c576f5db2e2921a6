import { knownDisk, presentSource, unmountPatiently } from "../disks/persistent.ts";
import type { Action } from "./action.ts";

export const unmountDisk: Action<"unmount_disk"> = async ({ diskCid }, { services, signal }) => {
  const disk = await knownDisk(services, diskCid);
  const { disks } = services.platform;
  const source = await presentSource(services, disk, signal);
  const targets = (await disks.mounts())
    .filter((mount) => mount.source === source)
    .map((mount) => mount.target);
  if (source === undefined || targets.length === 0)
    return { message: `Partition of disk ${diskCid} is not mounted` };
  for (const target of targets.reverse()) await unmountPatiently(services, target, signal);
  return { message: `Unmounted partition of disk ${diskCid}` };
};
