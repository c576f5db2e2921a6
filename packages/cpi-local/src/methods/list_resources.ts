import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import type { ListedDisk, ListedVm } from "@slipway/protocol/cpi/methods/list_resources";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { diskDir, sizeOf } from "../disks/disks.ts";
import { wholeNames } from "../files.ts";
import { directoryOf, type LocalCloud, openCloud } from "../local-cloud.ts";
import { allVms, readRecord, vmDir } from "../vm-record.ts";
import { disksOf } from "../vms/attachments.ts";
import { finishRemovals } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** All there is: a cloud directory has one Director. */
export const listResources: LocalMethods["listResources"] = async (_, { config }) => {
  const cloud = await openCloud(config);
  await finishRemovals(cloud);
  const vms: ListedVm[] = [];
  for (const cid of await allVms(cloud)) vms.push(await vmOf(cloud, cid));
  const disks: ListedDisk[] = [];
  for (const cid of await wholeNames(directoryOf(cloud, "disks")))
    disks.push({
      cid: cid as ListedDisk["cid"],
      size: await sizeOf(cloud, cid),
      metadata: await objectIn(join(diskDir(cloud, cid), "metadata.json")),
    });
  return { vms, disks };
};

async function vmOf(cloud: LocalCloud, cid: string): Promise<ListedVm> {
  const dir = vmDir(cloud, cid);
  const { agent_id, networks } = (await objectIn(join(dir, "user-data.json"))) as Partial<
    Pick<ListedVm, "agent_id" | "networks">
  >;
  const { stemcellCid } = await readRecord(dir);
  return {
    cid: cid as ListedVm["cid"],
    ...(agent_id !== undefined && { agent_id }),
    ...(networks !== undefined && { networks }),
    ...(stemcellCid !== undefined && { stemcell_cid: stemcellCid as ListedVm["stemcell_cid"] }),
    metadata: await objectIn(join(dir, "metadata.json")),
    disk_cids: (await disksOf(cloud, cid)) as ListedVm["disk_cids"],
  };
}

/** Reads an object from a file; a missing file is an empty object. */
async function objectIn(path: string): Promise<JsonObject> {
  const text = await ifThere(readFile(path, "utf8"));
  const found: unknown = text === undefined ? undefined : JSON.parse(text);
  return isObject(found) ? (found as JsonObject) : {};
}
