import { readFile } from "node:fs/promises";
import { BadJson } from "@slipway/kernel/strict-json";
import type { ManagedDiskStore } from "../services.ts";
import { readState, removeState, type StateTools, writeState } from "./state-file.ts";

/**
 * `managed_disk_settings.json`, which despite its name is the bare cid. Upstream never deletes it, so that its agent
 * cannot start again once the disk is removed; ours is cleared with the disk.
 */
export function fileManagedDisk(path: string, tools: StateTools): ManagedDiskStore {
  return {
    load: () => readState(path, parseCid, tools),
    save: async (cid) => {
      // Every mount_disk says it again; writing it again would only wear the disk and keep the caller waiting.
      if ((await readFile(path, "utf8").catch(() => undefined)) !== cid) await writeState(path, cid);
    },
    clear: () => removeState(path),
  };
}

/** Part of a cid looks like a cid; whether it is one shows when a disk of that name is known or not. */
function parseCid(text: string): string {
  const cid = text.trim();
  if (!/^[\x21-\x7e]{1,1024}$/.test(cid))
    throw BadJson({ what: "the managed disk", why: "it is not a disk cid" });
  return cid;
}
