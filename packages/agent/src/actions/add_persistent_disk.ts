import { parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

/** Remembers how to find a disk. The hints are a file of their own, so the settings need not know the disk. */
export const addPersistentDisk: Action<"add_persistent_disk"> = async (
  { diskCid, hint },
  { services, signal },
) => {
  await services.settings.reload(signal);
  const parsed = parseDiskHint(hint);
  if (!parsed.ok) throw BadRequest({ why: parsed.problem });
  await services.settings.addHint(diskCid, parsed.hint);
  return {};
};
