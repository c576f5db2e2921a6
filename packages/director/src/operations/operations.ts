import type { TaskType } from "@slipway/protocol/director/task";
import type { TaskWork } from "../tasks/task.ts";
import { attachDisk } from "./attach_disk.ts";
import { cckApply } from "./cck_apply.ts";
import { cckScan } from "./cck_scan.ts";
import { cckScanAndFix } from "./cck_scan_and_fix.ts";
import { createSnapshot } from "./create_snapshot.ts";
import { deleteArtifacts } from "./delete_artifacts.ts";
import { deleteDeployment } from "./delete_deployment.ts";
import { deleteDeploymentSnapshots } from "./delete_deployment_snapshots.ts";
import { deleteOrphanDisks } from "./delete_orphan_disks.ts";
import { deleteOrphanNetworks } from "./delete_orphan_networks.ts";
import { deleteOrphanedVms } from "./delete_orphaned_vms.ts";
import { deleteRelease } from "./delete_release.ts";
import { deleteSnapshot } from "./delete_snapshot.ts";
import { deleteStemcell } from "./delete_stemcell.ts";
import { deleteVm } from "./delete_vm.ts";
import { exportRelease } from "./export_release.ts";
import { fetchLogs } from "./fetch_logs.ts";
import { instances, vms } from "./instances.ts";
import type { OperationTools } from "./operation.ts";
import { orphanDisk } from "./orphan_disk.ts";
import { renewCertificates } from "./renew_certificates.ts";
import { runErrand } from "./run_errand.ts";
import { scheduledOrphanedDiskCleanup } from "./scheduled_orphaned_disk_cleanup.ts";
import { snapshotDeployment } from "./snapshot_deployment.ts";
import { snapshotDeployments } from "./snapshot_deployments.ts";
import { ssh } from "./ssh.ts";
import { updateDeployment } from "./update_deployment.ts";
import { updateInstance } from "./update_instance.ts";
import { updateRelease } from "./update_release.ts";
import { updateStemcell } from "./update_stemcell.ts";

/** Table of operations: the work of each type of task. */
export const operations = (tools: OperationTools): Readonly<Record<TaskType, TaskWork>> => ({
  update_deployment: updateDeployment(tools),
  delete_deployment: deleteDeployment(tools),
  update_stemcell: updateStemcell(tools),
  delete_stemcell: deleteStemcell(tools),
  update_release: updateRelease(tools),
  delete_release: deleteRelease(tools),
  export_release: exportRelease(tools),
  delete_artifacts: deleteArtifacts(tools),
  update_instance: updateInstance(tools),
  instances: instances(tools),
  vms: vms(tools),
  attach_disk: attachDisk(tools),
  orphan_disk: orphanDisk(tools),
  delete_orphan_disks: deleteOrphanDisks(tools),
  delete_vm: deleteVm(tools),
  delete_orphaned_vms: deleteOrphanedVms(tools),
  scheduled_orphaned_disk_cleanup: scheduledOrphanedDiskCleanup(tools),
  delete_orphan_networks: deleteOrphanNetworks(tools),
  cck_scan: cckScan(tools),
  cck_apply: cckApply(tools),
  cck_scan_and_fix: cckScanAndFix(tools),
  renew_certificates: renewCertificates(tools),
  fetch_logs: fetchLogs(tools),
  ssh: ssh(tools),
  run_errand: runErrand(tools),
  create_snapshot: createSnapshot(tools),
  snapshot_deployment: snapshotDeployment(tools),
  snapshot_deployments: snapshotDeployments(tools),
  delete_snapshot: deleteSnapshot(tools),
  delete_deployment_snapshots: deleteDeploymentSnapshots(tools),
});
