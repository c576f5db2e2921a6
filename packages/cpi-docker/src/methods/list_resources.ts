import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { type DockerCloudContext, openCloud } from "../cloud-context.ts";
import { listDisks } from "../disks/list.ts";
import { fileIn } from "../engine/archive.ts";
import { PLACES } from "../image-files.ts";
import { LABEL } from "../labels.ts";
import { findVm, listContainers } from "../vms/containers.ts";
import type { DockerMethods } from "./_method.ts";
import { METADATA } from "./set_vm_metadata.ts";

/**
 * Lists the VMs of the Director that asks: an engine may have VMs of others. Its disks are all in one volume, no
 * other Director's.
 */
export const listResources: DockerMethods["listResources"] = async (_, call) => {
  const cloud = await openCloud(call);
  const disks = await listDisks(cloud);
  const labels = { [LABEL.kind]: "vm", [LABEL.director]: call.request.directorUuid };
  const vms = [];
  for (const { cid } of await listContainers(cloud, labels)) {
    const found = await findVm(cloud, cid);
    // Deleted in this moment.
    if (found === undefined) continue;
    const its = found.Config.Labels ?? {};
    const { networks } = (await objectIn(cloud, cid, PLACES.settings)) as { networks?: never };
    vms.push({
      cid,
      ...(its[LABEL.agent] !== undefined && { agent_id: its[LABEL.agent] }),
      ...(its[LABEL.stemcell] !== undefined && { stemcell_cid: its[LABEL.stemcell] }),
      ...(networks !== undefined && { networks }),
      metadata: await objectIn(cloud, cid, METADATA),
      disk_cids: disks.filter(({ holder }) => holder === cid).map((disk) => disk.cid),
    });
  }
  return { vms, disks: disks.map(({ holder: _holder, ...disk }) => disk) };
};

/** Reads an object from a file; a missing file is an empty object. */
async function objectIn({ engine }: DockerCloudContext, cid: string, path: string): Promise<JsonObject> {
  const text = await fileIn(engine, cid, `/${path}`, `reading what '${cid}' was told`);
  const found: unknown = text === undefined ? undefined : JSON.parse(text);
  return isObject(found) ? (found as JsonObject) : {};
}
