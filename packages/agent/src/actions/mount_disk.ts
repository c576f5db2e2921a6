import { mkdir } from "node:fs/promises";
import { parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { arrivedDevice, knownDisk } from "../disks/persistent.ts";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";
import { MountedElsewhere } from "./errors.ts";

/**
 * Mounts a disk on the store, or, when another disk is there, on the migration target. A disk that is where it belongs
 * is left alone.
 */
export const mountDisk: Action<"mount_disk"> = async ({ diskCid, hint }, { services, signal }) => {
  const { paths, settings, managedDisk, migratedDisk } = services;
  const { disks } = services.platform;
  await settings.reload(signal);
  if (hint !== undefined && hint !== null) {
    const parsed = parseDiskHint(hint);
    if (!parsed.ok) throw BadRequest({ why: parsed.problem });
    await settings.addHint(diskCid, parsed.hint);
  }
  const disk = await knownDisk(services, diskCid);
  const device = await arrivedDevice(services, disk, signal);
  const own = await disks.mountSource(device);
  const mounts = await disks.mounts();
  const place = mounts.find((mount) => mount.source === own)?.target;
  if (place === paths.store) {
    await managedDisk.save(diskCid);
    return {};
  }
  if (place === paths.migrationTarget) return {};
  if (place !== undefined) throw MountedElsewhere({ source: own, target: place });

  await disks.prepare(device, disk);
  // Preparing may have made the partition that is to be mounted.
  const source = await disks.mountSource(device);
  const taken = mounts.some((mount) => mount.target === paths.store);
  const target = taken ? paths.migrationTarget : paths.store;
  await mkdir(target, { recursive: true, mode: 0o700 });
  // A migration to it that was finished once says nothing of a disk that comes again.
  if (!taken && (await migratedDisk.load()) === diskCid) await migratedDisk.clear();
  await disks.mount(source, target, disk.mountOptions);
  // Upstream records the migration target too; a reboot before the migration would then show an empty disk.
  if (!taken) await managedDisk.save(diskCid);
  return {};
};
