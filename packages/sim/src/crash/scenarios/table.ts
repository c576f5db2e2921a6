import type { TaskType } from "@slipway/protocol/director/task";
import type { CrashScenario } from "../scenario.ts";
import { DELETIONS, DEPLOYS, IGNORE, INSTANCE_ACTIONS } from "./deploys.ts";
import { RESOLUTIONS, SCANS, SCANS_AND_FIXES } from "./problems.ts";
import {
  DISK_ATTACHMENTS,
  DISK_DELETIONS,
  DISK_ORPHANINGS,
  INSTANCE_LISTS,
  ORPHANED_VM_DELETIONS,
  RENEWALS,
  STEMCELL_DELETIONS,
  UPLOADS,
  VM_DELETIONS,
  VM_LISTS,
} from "./resources.ts";

/** Where each type of task is killed. A new one has no line here and does not compile. */
export const SCENARIOS_OF: Readonly<Record<TaskType, readonly CrashScenario[]>> = {
  update_deployment: DEPLOYS,
  delete_deployment: DELETIONS,
  update_stemcell: UPLOADS,
  delete_stemcell: STEMCELL_DELETIONS,
  update_instance: INSTANCE_ACTIONS,
  instances: INSTANCE_LISTS,
  vms: VM_LISTS,
  attach_disk: DISK_ATTACHMENTS,
  orphan_disk: DISK_ORPHANINGS,
  delete_orphan_disks: DISK_DELETIONS,
  delete_vm: VM_DELETIONS,
  delete_orphaned_vms: ORPHANED_VM_DELETIONS,
  cck_scan: SCANS,
  cck_apply: RESOLUTIONS,
  cck_scan_and_fix: SCANS_AND_FIXES,
  renew_certificates: RENEWALS,
};

export const ALL_SCENARIOS: readonly CrashScenario[] = [...Object.values(SCENARIOS_OF).flat(), IGNORE];
