import { activateVm } from "./activate_vm.ts";
import { apply } from "./apply.ts";
import { associateDisks, dissociateDisks } from "./associate_disks.ts";
import { attachDisk, attachNamedDisk, attachNewDisk } from "./attach_disk.ts";
import { createDisk, createNamedDisk } from "./create_disk.ts";
import { createNetwork } from "./create_network.ts";
import { createStemcell } from "./create_stemcell.ts";
import { createVm } from "./create_vm.ts";
import { deleteDisk } from "./delete_disk.ts";
import { deleteInstance } from "./delete_instance.ts";
import { deleteNetwork } from "./delete_network.ts";
import { deleteOrphanedVm } from "./delete_orphaned_vm.ts";
import { deleteSnapshot } from "./delete_snapshot.ts";
import { deleteStemcell } from "./delete_stemcell.ts";
import { deleteUnusedVm, deleteVm } from "./delete_vm.ts";
import { detachDisk, detachNamedDisk, detachNewDisk, detachOldDisk } from "./detach_disk.ts";
import { migrateDisk } from "./migrate_disk.ts";
import { mountDisk, mountNewDisk } from "./mount_disk.ts";
import { orphanDisk } from "./orphan_disk.ts";
import { orphanVm } from "./orphan_vm.ts";
import { prepareAgent } from "./prepare_agent.ts";
import { prepareJobs, preparePackages } from "./prepare_jobs.ts";
import { rebootVm } from "./reboot_vm.ts";
import { renewCertificate } from "./renew_certificate.ts";
import { resizeDisk } from "./resize_disk.ts";
import { resizeNamedDisks } from "./resize_named_disks.ts";
import { saveInstance } from "./save_instance.ts";
import { setVmMetadata } from "./set_vm_metadata.ts";
import { snapshotDisk, snapshotDisks } from "./snapshot_disk.ts";
import { start } from "./start.ts";
import type { AnyStep, Step, StepSubject } from "./step.ts";
import { stop } from "./stop.ts";
import { switchDisk, switchNamedDisk } from "./switch_disk.ts";
import { unmountDisk, unmountNewDisk, unmountOldDisk } from "./unmount_disk.ts";
import { updateDisk } from "./update_disk.ts";
import { updateNamedDisks } from "./update_named_disks.ts";
import { waitForAgent } from "./wait_for_agent.ts";

/** Every step that is taken on an instance, in the order a plan may have them in. */
export const STEPS = {
  prepare_jobs: prepareJobs,
  stop,
  snapshot_disks: snapshotDisks,
  unmount_disk: unmountDisk,
  detach_disk: detachDisk,
  dissociate_disks: dissociateDisks,
  detach_named_disk: detachNamedDisk,
  resize_disk: resizeDisk,
  update_disk: updateDisk,
  reboot_vm: rebootVm,
  delete_vm: deleteVm,
  delete_unused_vm: deleteUnusedVm,
  orphan_vm: orphanVm,
  create_vm: createVm,
  set_vm_metadata: setVmMetadata,
  wait_for_agent: waitForAgent,
  activate_vm: activateVm,
  attach_disk: attachDisk,
  mount_disk: mountDisk,
  prepare_agent: prepareAgent,
  prepare_packages: preparePackages,
  create_disk: createDisk,
  unmount_new_disk: unmountNewDisk,
  detach_new_disk: detachNewDisk,
  attach_new_disk: attachNewDisk,
  mount_new_disk: mountNewDisk,
  migrate_disk: migrateDisk,
  switch_disk: switchDisk,
  resize_named_disks: resizeNamedDisks,
  update_named_disks: updateNamedDisks,
  create_named_disk: createNamedDisk,
  attach_named_disk: attachNamedDisk,
  switch_named_disk: switchNamedDisk,
  associate_disks: associateDisks,
  unmount_old_disk: unmountOldDisk,
  detach_old_disk: detachOldDisk,
  orphan_disk: orphanDisk,
  apply,
  start,
  save_instance: saveInstance,
  delete_instance: deleteInstance,
  renew_certificate: renewCertificate,
} satisfies Readonly<Record<string, Step<StepSubject>>>;

/** Steps on things that no instance has. */
export const OTHER_STEPS = {
  create_stemcell: createStemcell,
  delete_stemcell: deleteStemcell,
  delete_disk: deleteDisk,
  delete_orphaned_vm: deleteOrphanedVm,
  snapshot_disk: snapshotDisk,
  delete_snapshot: deleteSnapshot,
  create_network: createNetwork,
  delete_network: deleteNetwork,
} satisfies Readonly<Record<string, AnyStep>>;

export type StepName = keyof typeof STEPS;

export const STEP_ORDER = Object.keys(STEPS) as readonly StepName[];

/** Finds a step by its name in the journal, which another version of this program may have written. */
export function stepNamed(name: string): AnyStep | undefined {
  if (Object.hasOwn(STEPS, name)) return STEPS[name as StepName];
  return Object.hasOwn(OTHER_STEPS, name) ? OTHER_STEPS[name as keyof typeof OTHER_STEPS] : undefined;
}
