import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/**
 * Capabilities beyond the shipped contract that a CPI announces in `info`: draft dialects, and guarantees for
 * callers. Real peers ignore the key.
 */
export const capabilities = open({
  create_vm_result: v.optional(
    doc(v.picklist(["networks", "disks", "networks+disks"]), "what follows the cid in a create_vm result"),
  ),
  attach_disk_takes_disks: v.optional(
    doc(v.boolean(), "attach_disk takes the disks of the VM as third argument"),
  ),
  attach_disk_result: v.optional(
    doc(v.picklist(["hint", "disks"]), "one hint, or all disks with the new hint in them"),
  ),
  detach_disk_returns_disks: v.optional(
    doc(v.boolean(), "detach_disk takes and returns the disks of the VM"),
  ),
  bootstrap_settings_arg: v.optional(
    doc(v.boolean(), "create_vm takes (stemcell_cid, cloud_properties, settings, networks, disk_cids, env)"),
  ),
  repeats_by_request_id: v.optional(
    doc(v.boolean(), "a create call repeated with its request_id and arguments returns the first one's cid"),
  ),
  get_vm_log: v.optional(doc(v.boolean(), "the method get_vm_log is there")),
  list_resources: v.optional(doc(v.boolean(), "the method list_resources is there")),
});
export type Capabilities = v.InferOutput<typeof capabilities>;
