import type { StepName } from "../plan/model.ts";
import type { AnyStep } from "./step.ts";
import { activateVm } from "./steps/activate_vm.ts";
import { apply } from "./steps/apply.ts";
import { attachDisk, attachNewDisk } from "./steps/attach_disk.ts";
import { createDisk } from "./steps/create_disk.ts";
import { createVm } from "./steps/create_vm.ts";
import { deleteInstance } from "./steps/delete_instance.ts";
import { deleteUnusedVm, deleteVm } from "./steps/delete_vm.ts";
import { detachDisk, detachOldDisk } from "./steps/detach_disk.ts";
import { migrateDisk } from "./steps/migrate_disk.ts";
import { mountDisk, mountNewDisk } from "./steps/mount_disk.ts";
import { orphanDisk } from "./steps/orphan_disk.ts";
import { orphanVm } from "./steps/orphan_vm.ts";
import { prepareAgent } from "./steps/prepare_agent.ts";
import { rebootVm } from "./steps/reboot_vm.ts";
import { resizeDisk } from "./steps/resize_disk.ts";
import { saveInstance } from "./steps/save_instance.ts";
import { setVmMetadata } from "./steps/set_vm_metadata.ts";
import { start } from "./steps/start.ts";
import { stop } from "./steps/stop.ts";
import { switchDisk } from "./steps/switch_disk.ts";
import { unmountDisk, unmountOldDisk } from "./steps/unmount_disk.ts";
import { updateDisk } from "./steps/update_disk.ts";
import { waitForAgent } from "./steps/wait_for_agent.ts";

/** Every step there is. The index of the room. */
export const STEPS: Readonly<Record<StepName, AnyStep>> = {
  stop,
  unmount_disk: unmountDisk,
  detach_disk: detachDisk,
  resize_disk: resizeDisk,
  update_disk: updateDisk,
  reboot_vm: rebootVm,
  delete_vm: deleteVm,
  delete_unused_vm: deleteUnusedVm,
  orphan_vm: orphanVm,
  create_vm: createVm,
  wait_for_agent: waitForAgent,
  activate_vm: activateVm,
  attach_disk: attachDisk,
  mount_disk: mountDisk,
  prepare_agent: prepareAgent,
  create_disk: createDisk,
  attach_new_disk: attachNewDisk,
  mount_new_disk: mountNewDisk,
  migrate_disk: migrateDisk,
  switch_disk: switchDisk,
  unmount_old_disk: unmountOldDisk,
  detach_old_disk: detachOldDisk,
  orphan_disk: orphanDisk,
  set_vm_metadata: setVmMetadata,
  apply,
  start,
  save_instance: saveInstance,
  delete_instance: deleteInstance,
};
