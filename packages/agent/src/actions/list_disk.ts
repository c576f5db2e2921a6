import { presentSource } from "../disks/persistent.ts";
import type { Action } from "./action.ts";

/** A disk whose device is not there is not mounted. */
export const listDisk: Action<"list_disk"> = async (_, { services, signal }) => {
  await services.settings.reload(signal);
  const mounts = await services.platform.disks.mounts();
  const known = [...(await services.settings.persistentDisks()).values()];
  const sources = await Promise.all(known.map((disk) => presentSource(services, disk, signal)));
  return known
    .filter((_disk, at) => sources[at] !== undefined && mounts.some((mount) => mount.source === sources[at]))
    .map((disk) => disk.cid);
};
