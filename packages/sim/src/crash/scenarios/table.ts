import type { TaskType } from "@slipway/protocol/director/task";
import type { CrashScenario } from "../scenario.ts";
import { LOGS, SSH } from "./access.ts";
import { CLEAN_UPS } from "./clean-ups.ts";
import { CLOUD_DELETIONS, CLOUD_DEPLOYS, CLOUD_DISK_DELETIONS, CLOUD_UPLOADS } from "./clouds.ts";
import { FAILED_COPIES } from "./copies.ts";
import { DELETIONS, DEPLOYS, IGNORE, INSTANCE_ACTIONS } from "./deploys.ts";
import { ERRANDS } from "./errands.ts";
import { EXPORTS } from "./exports.ts";
import { WATCHED } from "./health.ts";
import { NAMED_DISKS } from "./named-disks.ts";
import { NETWORK_DELETIONS, NETWORK_DEPLOYS, NETWORK_ORPHANINGS } from "./networks.ts";
import { RESOLUTIONS, SCANS, SCANS_AND_FIXES } from "./problems.ts";
import { RELEASE_DELETIONS, RELEASE_UPLOADS } from "./releases.ts";
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
import {
  DEPLOYMENT_SNAPSHOT_DELETIONS,
  DEPLOYMENT_SNAPSHOTS,
  OLD_DISK_DELETIONS,
  SCHEDULED_SNAPSHOTS,
  SNAPSHOT_DELETIONS,
  SNAPSHOTS,
  SNAPSHOTS_BEFORE_UPDATES,
  SNAPSHOTS_OF_ORPHANS,
} from "./snapshots.ts";
import { DELETIONS_WITH_JOBS, DEPLOYS_WITH_JOBS } from "./with-jobs.ts";

/** Scenarios in which each type of task is killed. A new type has no line here and does not compile. */
export const SCENARIOS_OF: Readonly<Record<TaskType, readonly CrashScenario[]>> = {
  update_deployment: [
    ...[...DEPLOYS, ...FAILED_COPIES, ...NAMED_DISKS, ...DEPLOYS_WITH_JOBS, ...CLOUD_DEPLOYS],
    ...[...SNAPSHOTS_BEFORE_UPDATES, ...NETWORK_DEPLOYS],
  ],
  delete_deployment: [...DELETIONS, ...DELETIONS_WITH_JOBS, ...CLOUD_DELETIONS, ...NETWORK_ORPHANINGS],
  update_stemcell: [...UPLOADS, ...CLOUD_UPLOADS],
  delete_stemcell: STEMCELL_DELETIONS,
  update_release: RELEASE_UPLOADS,
  delete_release: RELEASE_DELETIONS,
  export_release: EXPORTS,
  delete_artifacts: CLEAN_UPS,
  update_instance: INSTANCE_ACTIONS,
  instances: INSTANCE_LISTS,
  vms: VM_LISTS,
  attach_disk: DISK_ATTACHMENTS,
  orphan_disk: DISK_ORPHANINGS,
  delete_orphan_disks: [...DISK_DELETIONS, ...SNAPSHOTS_OF_ORPHANS, ...CLOUD_DISK_DELETIONS],
  delete_vm: VM_DELETIONS,
  delete_orphaned_vms: ORPHANED_VM_DELETIONS,
  scheduled_orphaned_disk_cleanup: OLD_DISK_DELETIONS,
  delete_orphan_networks: NETWORK_DELETIONS,
  cck_scan: SCANS,
  cck_apply: RESOLUTIONS,
  cck_scan_and_fix: SCANS_AND_FIXES,
  renew_certificates: RENEWALS,
  fetch_logs: LOGS,
  ssh: SSH,
  run_errand: ERRANDS,
  create_snapshot: SNAPSHOTS,
  snapshot_deployment: DEPLOYMENT_SNAPSHOTS,
  snapshot_deployments: SCHEDULED_SNAPSHOTS,
  delete_snapshot: SNAPSHOT_DELETIONS,
  delete_deployment_snapshots: DEPLOYMENT_SNAPSHOT_DELETIONS,
};

export const ALL_SCENARIOS: readonly CrashScenario[] = [
  ...Object.values(SCENARIOS_OF).flat(),
  IGNORE,
  ...WATCHED,
];
