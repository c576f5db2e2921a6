import { messageTrail } from "@slipway/kernel/errors";
import { withoutDisk } from "../agent-settings.ts";
import { CpiFailure } from "../errors.ts";
import { changeDisks } from "../registry-entry.ts";
import { callOf, handlerOf, type RunningCall } from "../running-call.ts";

/** detach_disk: the registry forgets the disk even if it was off the VM already, as after a crash in between. */
export async function detachDisk(running: RunningCall): Promise<unknown> {
  const { vmCid, diskCid } = running.args as { vmCid: string; diskCid: string };
  const forget = () => changeDisks(running, vmCid, "is fine", (disks) => withoutDisk(disks, diskCid));
  try {
    await handlerOf(running.cpi, "detachDisk")?.(running.args, callOf(running));
  } catch (error) {
    const off =
      error instanceof CpiFailure && (error.wire === "DiskNotAttached" || error.wire === "DiskNotFound");
    if (off) await forget().catch((cause: unknown) => running.log.warn(messageTrail(cause)));
    throw error;
  }
  await forget();
  const returnsDisks = running.version >= 2 && running.cpi.capabilities?.detach_disk_returns_disks === true;
  return returnsDisks ? withoutDisk(running.disks ?? {}, diskCid) : null;
}
