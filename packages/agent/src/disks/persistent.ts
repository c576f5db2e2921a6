import { withDeadline } from "@slipway/kernel/deadline";
import type { DiskSettings } from "../platform/disks.ts";
import type { AgentServices } from "../services.ts";
import { until } from "../until.ts";
import { DiskUnknown } from "./errors.ts";

/** How long a device may take to show up after the IaaS said that it is attached. */
const ARRIVAL_MS = 60_000;
/** A disk that is already there answers at once; for questions about mounts nothing is waited for. */
const PRESENCE_MS = 3_000;

export async function knownDisk(services: AgentServices, cid: string): Promise<DiskSettings> {
  const disk = (await services.settings.persistentDisks()).get(cid);
  if (disk === undefined) throw DiskUnknown({ cid });
  return disk;
}

/** The device of a disk, waited for. When it does not come, the error says what was looked for. */
export async function arrivedDevice(
  services: AgentServices,
  disk: DiskSettings,
  signal: AbortSignal,
): Promise<string> {
  return await until(`finding the device of disk ${disk.cid}`, ARRIVAL_MS, services.clock, signal, (own) =>
    services.platform.disks.locate(disk, own),
  );
}

/** Returns the partition or device of the disk to mount. Undefined if the device is not there. */
export async function presentSource(
  services: AgentServices,
  disk: DiskSettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { disks } = services.platform;
  try {
    const device = await withDeadline(
      `finding disk ${disk.cid}`,
      PRESENCE_MS,
      services.clock,
      signal,
      (own) => disks.locate(disk, own),
    );
    return await disks.mountSource(device);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Processes may hold a disk for a while after they were asked to stop. */
const BUSY_MS = 600_000;

/** Waits for a busy one; when it stays so, the error says who holds it. */
export async function unmountPatiently(
  services: AgentServices,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  await until(`unmounting ${target}`, BUSY_MS, services.clock, signal, (own) =>
    services.platform.disks.unmount(target, own),
  );
}

/** The cid of the known disk that is mounted from this source. */
export async function cidOfSource(
  services: AgentServices,
  source: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const disk of (await services.settings.persistentDisks()).values()) {
    if ((await presentSource(services, disk, signal)) === source) return disk.cid;
  }
  return undefined;
}

export async function mountedAt(services: AgentServices, target: string): Promise<string | undefined> {
  const mounts = await services.platform.disks.mounts();
  return mounts.filter((mount) => mount.target === target).at(-1)?.source;
}

/** A cid as the name of a file. Other characters than these would be another place. */
export const isFileName = (cid: string): boolean => /^[\w.-]+$/.test(cid) && cid !== "." && cid !== "..";
