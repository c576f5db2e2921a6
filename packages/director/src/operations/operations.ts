import type { TaskType } from "@slipway/protocol/director/task";
import type { TaskWork } from "../tasks/task.ts";
import { attachDisk } from "./attach_disk.ts";
import { cckApply } from "./cck_apply.ts";
import { cckScan } from "./cck_scan.ts";
import { cckScanAndFix } from "./cck_scan_and_fix.ts";
import { deleteDeployment } from "./delete_deployment.ts";
import { deleteOrphanDisks } from "./delete_orphan_disks.ts";
import { deleteOrphanedVms } from "./delete_orphaned_vms.ts";
import { deleteStemcell } from "./delete_stemcell.ts";
import { deleteVm } from "./delete_vm.ts";
import { instances, vms } from "./instances.ts";
import type { Workshop } from "./operation.ts";
import { orphanDisk } from "./orphan_disk.ts";
import { renewCertificates } from "./renew_certificates.ts";
import { updateDeployment } from "./update_deployment.ts";
import { updateInstance } from "./update_instance.ts";
import { updateStemcell } from "./update_stemcell.ts";

/** What each type of task does. The index of the room. */
export const operations = (shop: Workshop): Readonly<Record<TaskType, TaskWork>> => ({
  update_deployment: updateDeployment(shop),
  delete_deployment: deleteDeployment(shop),
  update_stemcell: updateStemcell(shop),
  delete_stemcell: deleteStemcell(shop),
  update_instance: updateInstance(shop),
  instances: instances(shop),
  vms: vms(shop),
  attach_disk: attachDisk(shop),
  orphan_disk: orphanDisk(shop),
  delete_orphan_disks: deleteOrphanDisks(shop),
  delete_vm: deleteVm(shop),
  delete_orphaned_vms: deleteOrphanedVms(shop),
  cck_scan: cckScan(shop),
  cck_apply: cckApply(shop),
  cck_scan_and_fix: cckScanAndFix(shop),
  renew_certificates: renewCertificates(shop),
});
