import { withDeadline } from "@slipway/kernel/deadline";
import { knownDisk, presentSource } from "../disks/persistent.ts";
import type { Action } from "./action.ts";

/** Processes may hold the disk for a while after they were told to stop. */
const BUSY_MS = 600_000;

export const unmountDisk: Action<"unmount_disk"> = async ({ diskCid }, { services, signal }) => {
  const disk = await knownDisk(services, diskCid);
  const { disks } = services.platform;
  const source = await presentSource(services, disk, signal);
  const targets = (await disks.mounts())
    .filter((mount) => mount.source === source)
    .map((mount) => mount.target);
  if (source === undefined || targets.length === 0)
    return { message: `Partition of disk ${diskCid} is not mounted` };
  for (const target of targets.reverse()) {
    await withDeadline(`unmounting ${target}`, BUSY_MS, services.clock, signal, (own) =>
      disks.unmount(target, own),
    );
  }
  return { message: `Unmounted partition of disk ${diskCid}` };
};
