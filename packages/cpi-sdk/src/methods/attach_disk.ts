import { formatDiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { withDisk } from "../agent-settings.ts";
import { cpiError, RegistryNotConfigured } from "../errors.ts";
import { changeDisks, keepsEntries } from "../registry-entry.ts";
import { callOf, handlerOf, type RunningCall } from "../running-call.ts";

/** attach_disk: the author returns the hint; it goes to the caller, to the registry entry, or to both. */
export async function attachDisk(running: RunningCall): Promise<unknown> {
  // From version 2 the hint reaches the agent through the caller, so a VM that has no entry needs no registry.
  const hintTravels = running.version >= 2 && running.stemcellUnknown;
  if (!running.registryless && !keepsEntries(running) && !hintTravels) {
    throw RegistryNotConfigured({
      method: "attach_disk",
      why: "The agent of this VM learns of disks from the registry only.",
    });
  }
  const returned = await handlerOf(running.cpi, "attachDisk")?.(running.args, callOf(running));
  const parsed = parseDiskHint(returned);
  if (!parsed.ok) throw cpiError(`the CPI broke its contract: attach_disk: ${parsed.problem}`);
  const hint = formatDiskHint(parsed.hint);
  const { vmCid, diskCid } = running.args as { vmCid: string; diskCid: string };
  await changeDisks(running, vmCid, "fails", (disks) => withDisk(disks, diskCid, hint));
  if (running.version < 2) return null;
  return running.cpi.capabilities?.attach_disk_result === "disks"
    ? withDisk(running.disks ?? {}, diskCid, hint)
    : hint;
}
