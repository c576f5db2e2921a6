import { mkdir } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { Log } from "../log.ts";
import type { Paths } from "../paths.ts";
import type { DiskMount, DiskPlatform, DiskSettings } from "../platform/disks.ts";
import type { ManagedDiskStore, SettingsService } from "../services.ts";
import { DiskNotBack } from "../settings/errors.ts";
import { until } from "../until.ts";
import type { StartupProblem } from "./startup-problem.ts";
import type { StartupProgress } from "./startup-progress.ts";

export interface PersistentParts {
  readonly paths: Paths;
  readonly disks: DiskPlatform;
  readonly settings: Pick<SettingsService, "persistentDisks">;
  readonly managedDisk: ManagedDiskStore;
  readonly attention: StartupProblem;
  readonly waiting: StartupProgress;
  /** The device is missing: from now on messages about disks are answered. */
  readonly openForDisks: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_MS = 60_000;
const PAUSE_MS = 2_000;
/** For a disk of which it is only asked whether it is the one that is mounted, or whether it is there at once. */
const GLANCE_MS = 3_000;
/** For a device that is missing. Then it is asked whether it is still wanted. */
const MISSING_MS = 10_000;

/**
 * Brings the disk back that was mounted before the restart, and never another one in its place. A device that is not
 * there is waited for until somebody takes the disk from this VM; meanwhile a Director can see that it is not mounted,
 * and attach it again. What waiting cannot mend does not end the agent, as it does upstream: it is
 * reported, and nothing is mounted.
 */
export async function remountPersistent(parts: PersistentParts, signal: AbortSignal): Promise<void> {
  const cid = await parts.managedDisk.load();
  const mounts = await parts.disks.mounts();
  const atStore = mounts.filter((mount) => mount.target === parts.paths.store).at(-1);
  if (atStore !== undefined) return await keepMounted(parts, cid, atStore, mounts, signal);
  if (cid === undefined) return;
  const disk = (await parts.settings.persistentDisks()).get(cid);
  if (disk === undefined) return notBack(parts, cid, "neither the settings nor the disk hints know it");
  const found = await arrival(parts, disk, signal);
  if (found === undefined) return parts.log.warn(`persistent disk ${cid} was taken away; nothing is mounted`);
  try {
    await mountAgain(parts, found.disk, found.device, signal);
  } catch (error) {
    signal.throwIfAborted();
    notBack(parts, cid, messageTrail(error));
  }
}

function notBack(parts: PersistentParts, cid: string, why: string): void {
  const { message } = DiskNotBack({ cid, why });
  parts.log.error(message);
  parts.attention.report(message);
}

interface DiskWithDevice {
  readonly disk: DiskSettings;
  readonly device: string;
}

/** Undefined when it was taken away, and did not come back at once: to be attached again it is forgotten first. */
async function arrival(
  parts: PersistentParts,
  known: DiskSettings,
  signal: AbortSignal,
): Promise<DiskWithDevice | undefined> {
  const { cid } = known;
  const what = `the device of persistent disk ${cid}`;
  parts.waiting.on(what);
  let said: string | undefined;
  for (let disk = known, taken = false, ms = GLANCE_MS; ; ms = MISSING_MS) {
    // Attached again, it may be found by another hint.
    disk = (await parts.settings.persistentDisks()).get(cid) ?? disk;
    try {
      const device = await until(what, ms, parts.clock, signal, (own) => parts.disks.locate(disk, own));
      return { disk, device };
    } catch (error) {
      signal.throwIfAborted();
      const why = messageTrail(error);
      if (why !== said) parts.log.warn(`still waiting for ${what}: ${why}`);
      said = why;
      parts.waiting.on(`${what}: ${why}`);
    }
    if (taken) return undefined;
    taken = (await parts.managedDisk.load()) !== cid;
    await parts.openForDisks();
    await parts.clock.sleep(PAUSE_MS, signal);
  }
}

async function mountAgain(
  parts: PersistentParts,
  disk: DiskSettings,
  device: string,
  signal: AbortSignal,
): Promise<void> {
  const { disks, paths } = parts;
  if (!(await disks.isInUse(device)))
    return notBack(parts, disk.cid, `${device} holds nothing that could be mounted; it was not formatted`);
  await leaveMigrationTarget(parts, await disks.mountSource(device), signal);
  // Grows what has room. Formatting is out of the question: something of ours is there.
  await disks.prepare(device, disk);
  const source = await disks.mountSource(device);
  await mkdir(paths.store, { recursive: true, mode: 0o700 });
  await disks.mount(source, paths.store, disk.mountOptions);
  if ((await parts.managedDisk.load()) !== disk.cid) await parts.managedDisk.save(disk.cid);
  parts.log.info(`persistent disk ${disk.cid} is mounted again: ${source} on ${paths.store}`);
}

/** Killed while it put the new disk in the old one's place, or before the new one had left the place it was filled in. */
async function leaveMigrationTarget(
  parts: PersistentParts,
  source: string,
  signal: AbortSignal,
): Promise<void> {
  const { disks, paths } = parts;
  const there = (await disks.mounts()).find((mount) => mount.target === paths.migrationTarget);
  if (there?.source !== source) return;
  parts.log.warn(`an unfinished migration is finished: ${source} leaves ${paths.migrationTarget}`);
  await unmount(parts, paths.migrationTarget, signal);
}

const unmount = (parts: PersistentParts, target: string, signal: AbortSignal) =>
  until(`unmounting ${target}`, LOOK_MS, parts.clock, signal, (own) => parts.disks.unmount(target, own));

/** Only the process was restarted. What is on the store was put there by us, or by nobody we know. */
async function keepMounted(
  parts: PersistentParts,
  cid: string | undefined,
  atStore: DiskMount,
  mounts: readonly DiskMount[],
  signal: AbortSignal,
): Promise<void> {
  const { disks, paths, managedDisk, log } = parts;
  const mounted = await diskMounted(parts, atStore.source, signal);
  if (mounted === undefined) {
    if (cid !== undefined)
      notBack(parts, cid, `${atStore.source}, which is no known disk, is mounted on ${paths.store}`);
    return;
  }
  const target = mounts.find((mount) => mount.target === paths.migrationTarget);
  if (mounted.cid !== cid && cid !== undefined && atStore.readOnly && target !== undefined) {
    const fresh = await diskMounted(parts, target.source, signal);
    // The copy was compared before it was put on record, and the old disk could not change since.
    if (fresh?.cid === cid) return await finishMigration(parts, fresh, target.source, signal);
  }
  if (mounted.cid !== cid) {
    // Killed between mounting and writing it down: only what belongs there is ever mounted there.
    log.warn(`persistent disk ${mounted.cid} is mounted; ${cid ?? "none"} was on record and is no longer`);
    await managedDisk.save(mounted.cid);
  }
  if (!atStore.readOnly) return;
  if (target === undefined)
    return notBack(parts, mounted.cid, `it is mounted read-only, which the agent did not do`);
  // Killed while it copied: the old disk goes on as it was, and the migration can be asked for again.
  await unmount(parts, paths.store, signal);
  await disks.mount(atStore.source, paths.store, mounted.mountOptions);
  log.warn(`an unfinished migration was rolled back: ${mounted.cid} is writable again`);
}

async function finishMigration(
  parts: PersistentParts,
  disk: DiskSettings,
  source: string,
  signal: AbortSignal,
): Promise<void> {
  await unmount(parts, parts.paths.store, signal);
  await leaveMigrationTarget(parts, source, signal);
  await parts.disks.mount(source, parts.paths.store, disk.mountOptions);
}

async function diskMounted(
  parts: PersistentParts,
  source: string,
  signal: AbortSignal,
): Promise<DiskSettings | undefined> {
  for (const disk of (await parts.settings.persistentDisks()).values()) {
    try {
      const look = (own: AbortSignal) => parts.disks.locate(disk, own);
      const device = await until(`finding disk ${disk.cid}`, GLANCE_MS, parts.clock, signal, look);
      if ((await parts.disks.mountSource(device)) === source) return disk;
    } catch {
      signal.throwIfAborted();
    }
  }
  return undefined;
}
