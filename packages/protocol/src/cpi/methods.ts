import type { Method } from "./method.ts";
import { attachDisk } from "./methods/attach_disk.ts";
import { calculateVmCloudProperties } from "./methods/calculate_vm_cloud_properties.ts";
import { configureNetworks } from "./methods/configure_networks.ts";
import { createDisk } from "./methods/create_disk.ts";
import { createNetwork } from "./methods/create_network.ts";
import { createStemcell } from "./methods/create_stemcell.ts";
import { createVm } from "./methods/create_vm.ts";
import { currentVmId } from "./methods/current_vm_id.ts";
import { deleteDisk } from "./methods/delete_disk.ts";
import { deleteNetwork } from "./methods/delete_network.ts";
import { deleteSnapshot } from "./methods/delete_snapshot.ts";
import { deleteStemcell } from "./methods/delete_stemcell.ts";
import { deleteVm } from "./methods/delete_vm.ts";
import { detachDisk } from "./methods/detach_disk.ts";
import { getDisks } from "./methods/get_disks.ts";
import { getVmLog } from "./methods/get_vm_log.ts";
import { hasDisk } from "./methods/has_disk.ts";
import { hasVm } from "./methods/has_vm.ts";
import { info } from "./methods/info.ts";
import { listResources } from "./methods/list_resources.ts";
import { ping } from "./methods/ping.ts";
import { rebootVm } from "./methods/reboot_vm.ts";
import { resizeDisk } from "./methods/resize_disk.ts";
import { setDiskMetadata } from "./methods/set_disk_metadata.ts";
import { setVmMetadata } from "./methods/set_vm_metadata.ts";
import { snapshotDisk } from "./methods/snapshot_disk.ts";
import { updateDisk } from "./methods/update_disk.ts";

/** Every method of the contract, v1 to v3, and `get_vm_log` and `list_resources`, which are ours. The table of methods. */
export const CPI_METHODS = {
  info: info,
  ping: ping,
  create_stemcell: createStemcell,
  delete_stemcell: deleteStemcell,
  create_vm: createVm,
  delete_vm: deleteVm,
  has_vm: hasVm,
  get_vm_log: getVmLog,
  list_resources: listResources,
  reboot_vm: rebootVm,
  set_vm_metadata: setVmMetadata,
  calculate_vm_cloud_properties: calculateVmCloudProperties,
  create_disk: createDisk,
  delete_disk: deleteDisk,
  has_disk: hasDisk,
  attach_disk: attachDisk,
  detach_disk: detachDisk,
  get_disks: getDisks,
  set_disk_metadata: setDiskMetadata,
  resize_disk: resizeDisk,
  update_disk: updateDisk,
  snapshot_disk: snapshotDisk,
  delete_snapshot: deleteSnapshot,
  create_network: createNetwork,
  delete_network: deleteNetwork,
  configure_networks: configureNetworks,
  current_vm_id: currentVmId,
} as const;

export type CpiMethods = typeof CPI_METHODS;
export type CpiMethodName = keyof CpiMethods;

export const CPI_METHOD_NAMES = Object.keys(CPI_METHODS) as readonly CpiMethodName[];

export const methodNamed = (name: string): Method | undefined =>
  Object.hasOwn(CPI_METHODS, name) ? CPI_METHODS[name as CpiMethodName] : undefined;
