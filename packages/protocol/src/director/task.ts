/** Tasks of the Director, as its API names them. */

export type TaskState = "queued" | "processing" | "cancelling" | "cancelled" | "done" | "error" | "timeout";

/** Upstream's names; `GET /tasks` filters by them. */
export type TaskType =
  | "update_deployment"
  | "delete_deployment"
  | "update_stemcell"
  | "delete_stemcell"
  | "update_instance"
  | "instances"
  | "vms"
  | "attach_disk"
  | "orphan_disk"
  | "delete_orphan_disks"
  | "delete_vm"
  | "delete_orphaned_vms"
  | "cck_scan"
  | "cck_apply"
  | "cck_scan_and_fix"
  | "renew_certificates";
