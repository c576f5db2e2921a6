import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { arrivedDevice, isFileName } from "../disks/persistent.ts";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

/** Links a disk where programs look for it. It is neither formatted nor mounted. */
export const addDynamicDisk: Action<"add_dynamic_disk"> = async ({ diskCid, hint }, { services, signal }) => {
  const parsed = parseDiskHint(hint);
  if (!parsed.ok) throw BadRequest({ why: parsed.problem });
  if (!isFileName(diskCid)) throw BadRequest({ why: "the disk cid cannot be the name of a link" });
  const disk = { cid: diskCid, hint: parsed.hint, fileSystem: "", mountOptions: [], partitioner: "" };
  const device = await arrivedDevice(services, disk, signal);
  await linkTo(
    device,
    join(services.paths.dynamicDisks, diskCid),
    services.paths.dynamicDisks,
    services.random.hex(4),
  );
  return {};
};

/** Puts a link in place, also over an older one, in one step. */
export async function linkTo(device: string, link: string, dir: string, nonce: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const fresh = `${link}.${nonce}`;
  await symlink(device, fresh);
  await rename(fresh, link).catch(async (error: unknown) => {
    await rm(fresh, { force: true });
    throw error;
  });
}
