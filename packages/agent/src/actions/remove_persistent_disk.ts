import type { Action } from "./action.ts";

/** Forgets a disk. Its mount at the next boot is forgotten too: upstream's agent would not start again without it. */
export const removePersistentDisk: Action<"remove_persistent_disk"> = async (
  { diskCid },
  { services, signal },
) => {
  await services.settings.reload(signal);
  await services.settings.removeHint(diskCid);
  const known = (await services.settings.persistentDisks()).has(diskCid);
  if (known) return {};
  for (const one of [services.managedDisk, services.migratedDisk])
    if ((await one.load()) === diskCid) await one.clear();
  return {};
};
