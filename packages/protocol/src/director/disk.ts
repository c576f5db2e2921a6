import * as v from "valibot";
import { json, jsonObject, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

const common = {
  disk_cid: v.string(),
  size: v.nullish(doc(v.number(), "in MiB")),
  az: v.nullish(v.string()),
  instance_name: v.nullish(doc(v.string(), "`db/<id>`")),
  cloud_properties: v.nullish(hidden(jsonObject())),
};

/** `GET /disks`: orphaned ones. */
export const orphanDisk = open({
  ...common,
  deployment_name: v.nullish(v.string()),
  orphaned_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
  deleting_since: v.optional(
    doc(v.string(), "ours; the Director has asked the cloud to delete it, and does not know the outcome"),
  ),
});
export type OrphanDisk = v.InferOutput<typeof orphanDisk>;

/** `GET /deployments/:deployment/disks`, ours: the persistent disks of a deployment. */
export const deploymentDisk = open({
  ...common,
  name: v.nullish(doc(v.string(), "of `persistent_disks`; empty: the disk that is mounted")),
  cpi: v.nullish(v.string()),
  index: v.nullish(doc(v.number(), "of the instance")),
  active: v.nullish(doc(v.boolean(), "it holds the data; another is new or about to be orphaned")),
  vm_cid: v.nullish(doc(v.string(), "the VM it is attached to")),
  hint: v.nullish(doc(json(), "what the agent was told of it, without secrets")),
  mounted: v.nullish(doc(v.boolean(), "of a named disk: its agent has linked it")),
});
export type DeploymentDisk = v.InferOutput<typeof deploymentDisk>;

/** `DELETE /disks/:cid`. */
export const diskDeletionQuery = open({
  orphan: v.optional(doc(v.string(), "`true`: the disk leaves its instance for the list of orphaned ones")),
});

/** `PUT /disks/:cid/attachments`. */
export const diskAttachmentQuery = open({
  deployment: v.string(),
  job: doc(v.string(), "the instance group"),
  instance_id: doc(v.string(), "id or index"),
  disk_properties: v.optional(doc(v.string(), "`copy`: those of the disk before it")),
});
