import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isFileName } from "../disks/persistent.ts";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

export const removeDynamicDisk: Action<"remove_dynamic_disk"> = async ({ diskCid }, { services }) => {
  if (!isFileName(diskCid)) throw BadRequest({ why: "the disk cid cannot be the name of a link" });
  await rm(join(services.paths.dynamicDisks, diskCid), { force: true });
  return {};
};
