import { cloudError } from "@slipway/cpi-sdk/errors";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type DockerCloudContext, isPlain } from "../cloud-context.ts";
import { DiskHelper } from "./disk-helper.ts";
import { onDisk } from "./disks.ts";
import { DELETE_SNAPSHOT, SNAPSHOT } from "./scripts/snapshots.ts";

/** A copy, which shares its blocks with the disk where the volume's file system can do that. */
export async function createSnapshot(
  cloud: DockerCloudContext,
  cid: string,
  disk: string,
  record: JsonObject,
): Promise<string> {
  await onDisk(cloud, disk, SNAPSHOT, [cid, JSON.stringify(record)], "taking a snapshot");
  return cid;
}

/** Removing one that is not there is success. */
export async function removeSnapshot(cloud: DockerCloudContext, cid: string): Promise<void> {
  const diskHelper = isPlain(cid) ? await DiskHelper.openIfUsed(cloud) : undefined;
  const ran = await diskHelper?.run(DELETE_SNAPSHOT, [cid], "deleting a snapshot");
  if (ran !== undefined && ran.code !== 0)
    throw cloudError(`snapshot '${cid}' cannot be deleted: ${ran.stderr.trim().slice(-300)}`);
}
