import { CpiFailure } from "../errors.ts";
import { deleteEntry } from "../registry-entry.ts";
import { callOf, handlerOf, type RunningCall } from "../running-call.ts";

/** delete_vm: the registry entry goes after the VM, also when the VM was gone before. */
export async function deleteVm(running: RunningCall): Promise<unknown> {
  const { vmCid } = running.args as { vmCid: string };
  try {
    await handlerOf(running.cpi, "deleteVm")?.(running.args, callOf(running));
  } catch (error) {
    if (error instanceof CpiFailure && error.wire === "VMNotFound") await deleteEntry(running, vmCid);
    throw error;
  }
  await deleteEntry(running, vmCid);
  return null;
}
